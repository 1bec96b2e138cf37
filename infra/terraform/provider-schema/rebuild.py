#!/usr/bin/env python3
"""Rebuilds the schema of the Terraform provider hashicorp/aws from the generated classes of @cdktn/provider-aws.

usage: rebuild.py LIB PROVIDER_VERSION OUT.json

The classes are generated from the provider's own schema, one folder a resource or data source. What is read of them:

- `synthesizeHclAttributes` and the functions `…ToHclTerraform`: names, types, and which are blocks;
- the comments `// name - computed: …, optional: …, required: …`: what must, may and can't be set.

What they don't say, and this file guesses: that the list of a block takes one item unless the class maps over several.
Only the services that the module and its example use are kept (SERVICES): the whole takes seconds to load, once a test.
What is not kept, or can't be read, is left out, so that its use is refused.
"""

import json
import pathlib
import re
import sys

# How the names of their resources begin.
SERVICES = ("cloudwatch_", "dynamodb_", "iam_", "kms_", "lambda_", "scheduler_", "secretsmanager_", "sns_", "sqs_")
# Data sources of no service.
ACCOUNT = ("caller_identity", "partition", "region")

SCALARS = {"string": "string", "number": "number", "boolean": "bool", "any": "dynamic"}
ENTRY = re.compile(
    r"^ +(\w+): \{\n +value: (.*),\n +isBlock: (true|false),\n +type: \"(\w+)\",\n +storageClassType: \"(\w+)\",\n +\},",
    re.M,
)
MODE = re.compile(r"^ +// (\w+) - computed: (true|false), optional: (true|false), required: (true|false)$", re.M)
FUNCTION = re.compile(r"^function (\w+?)ToHclTerraform\(struct\) \{\n(.*?)^\}", re.M | re.S)
CLASS = re.compile(r"^(?:export )?class (\w+) extends [^\n]*\{\n(.*?)^\}", re.M | re.S)
GETTER = re.compile(r"return this\.get(\w+?)Attribute\('(\w+)'\)")
NESTED = re.compile(r"new \w+(?:List|OutputReference|Map)\(this, \"(\w+)\"")
GETTER_TYPES = {"String": "string", "Number": "number", "Boolean": "bool", "List": ["list", "string"]}


def type_of(kind, storage):
    """The type of an attribute in the plugin protocol's words."""
    if storage in SCALARS:
        return SCALARS[storage]
    if m := re.fullmatch(r"(string|number|boolean|any)(List|Map|Set)", storage):
        return [kind if kind in ("list", "set", "map") else m[2].lower(), SCALARS[m[1]]]
    if m := re.fullmatch(r"(string|number|boolean|any)MapList", storage):
        return [kind, ["map", SCALARS[m[1]]]]
    if m := re.fullmatch(r"(string|number|boolean)ListMap", storage):
        return ["map", ["list", SCALARS[m[1]]]]
    return "dynamic"


def mode_of(computed, optional, required):
    if required:
        return "required"
    if optional:
        return "optional and computed" if computed else "optional"
    return "computed"


class Source:
    """One resource or data source, as it is generated."""

    def __init__(self, folder):
        self.js = (folder / "index.js").read_text()
        self.functions = dict(FUNCTION.findall(self.js))
        self.classes = dict(CLASS.findall(self.js))
        types = (folder / "index.d.ts").read_text()
        found = re.search(r"static readonly tfResourceType = \"(\w+)\"", types)
        self.type = found and found[1]

    def schema(self):
        name = next(n for n, body in self.classes.items() if "synthesizeHclAttributes() {" in body)
        body = self.classes[name]
        settable = re.search(r"synthesizeHclAttributes\(\) \{(.*?)^    \}", body, re.M | re.S)[1]
        return self.block(settable, body, ())

    def block(self, settable, body, seen):
        modes = {n: mode_of(*(x == "true" for x in m)) for n, *m in MODE.findall(body)}
        attributes, blocks = {}, {}
        for name, value, is_block, kind, storage in ENTRY.findall(settable):
            mode = modes.get(name, "optional")
            if is_block == "false":
                attributes[name] = {"type": type_of(kind, storage), "mode": mode}
                continue
            base = storage[:-4] if storage.endswith("List") and storage not in self.structs() else storage
            if base in seen:
                continue
            inner = self.block(
                self.functions.get(base[0].lower() + base[1:], ""),
                self.classes.get(base + "OutputReference", ""),
                (*seen, base),
            )
            single = kind == "struct"
            blocks[name] = inner | {
                "nesting": "single" if single else kind,
                "min": int(mode == "required" and not single),
                "max": int(not single and "listMapperHcl" not in value),
            }
        for getter, name in GETTER.findall(body):
            if name not in attributes and name not in blocks:
                attributes[name] = {"type": GETTER_TYPES.get(getter, "dynamic"), "mode": "computed"}
        for name in NESTED.findall(body):
            if name not in attributes and name not in blocks:
                attributes[name] = {"type": "dynamic", "mode": "computed"}
        return {"attributes": attributes, "blocks": blocks}

    def structs(self):
        return {n.removesuffix("OutputReference") for n in self.classes if n.endswith("OutputReference")}


def refused(block, in_set=False):
    """Terraform takes no block in a set that holds an attribute of unknown type."""
    in_set = in_set or block.get("nesting") == "set"
    unknown = any("dynamic" in json.dumps(a["type"]) for a in block["attributes"].values())
    return in_set and unknown or any(refused(b, in_set) for b in block["blocks"].values())


def kept(folder):
    name = folder.name.removeprefix("data-aws-").replace("-", "_")
    return name == "provider" or name in ACCOUNT or name.startswith(SERVICES)


def main(lib, version, out):
    schema = {"version": version, "provider": None, "resources": {}, "data": {}}
    left_out = []
    for folder in sorted(p for p in pathlib.Path(lib).iterdir() if kept(p) and (p / "index.js").exists()):
        try:
            source = Source(folder)
            if folder.name == "provider":
                if f"providerVersion: '{version}'" not in source.js:
                    sys.exit(f"the package was not generated from version {version} of the provider")
                schema["provider"] = source.schema()
            elif source.type:
                block = source.schema()
                if refused(block):
                    left_out.append(source.type)
                elif folder.name.startswith("data-aws-"):
                    schema["data"][source.type.removeprefix("data_")] = block
                else:
                    schema["resources"][source.type] = block
        except (LookupError, StopIteration, TypeError):
            left_out.append(folder.name)
    pathlib.Path(out).write_text(json.dumps(schema))
    print(
        f"rebuilt {len(schema['resources'])} resources and {len(schema['data'])} data sources; "
        f"left out: {', '.join(left_out) or 'none'}"
    )


if __name__ == "__main__":
    main(*sys.argv[1:])
