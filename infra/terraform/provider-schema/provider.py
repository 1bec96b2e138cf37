"""A provider that has the schema of hashicorp/aws and nothing else. It never talks to AWS.

`terraform validate` asks it for the schema; `terraform test` with `mock_provider` needs no more. To plan or apply with it
is refused. `setup.sh` puts lines in front that name the interpreter, the schema and a home.
"""

import json
import pathlib

import tf.provider
from tf.gen import tfplugin_pb2 as pb

SCHEMA = json.loads(pathlib.Path(SCHEMA_FILE).read_text())  # noqa: F821: set by setup.sh
NESTING = pb.Schema.NestedBlock.NestingMode
REFUSAL = [
    pb.Diagnostic(
        severity=pb.Diagnostic.ERROR,
        summary="a provider with a schema only",
        detail='It can neither plan nor apply. In tests, use mock_provider "aws".',
    )
]


def attribute(name, a):
    return pb.Schema.Attribute(
        name=name,
        type=json.dumps(a["type"]).encode(),
        required=a["mode"] == "required",
        optional=a["mode"] in ("optional", "optional and computed"),
        computed=a["mode"] in ("computed", "optional and computed"),
    )


def nested(name, b):
    counted = b["nesting"] in ("list", "set")
    return pb.Schema.NestedBlock(
        type_name=name,
        block=block(b),
        nesting=NESTING.Value(b["nesting"].upper()),
        min_items=b["min"] if counted else 0,
        max_items=b["max"] if counted else 0,
    )


def block(b):
    return pb.Schema.Block(
        attributes=[attribute(n, a) for n, a in b["attributes"].items()],
        block_types=[nested(n, x) for n, x in b["blocks"].items()],
    )


def schema(b):
    return pb.Schema(version=0, block=block(b))


class SchemaOnly(tf.provider.ProviderServicer):
    def GetMetadata(self, request, context):
        return pb.GetMetadata.Response(server_capabilities=pb.ServerCapabilities())

    def GetProviderSchema(self, request, context):
        return pb.GetProviderSchema.Response(
            provider=schema(SCHEMA["provider"]),
            resource_schemas={n: schema(b) for n, b in SCHEMA["resources"].items()},
            data_source_schemas={n: schema(b) for n, b in SCHEMA["data"].items()},
        )

    def ValidateProviderConfig(self, request, context):
        return pb.ValidateProviderConfig.Response()

    def ValidateResourceConfig(self, request, context):
        return pb.ValidateResourceConfig.Response()

    def ValidateDataResourceConfig(self, request, context):
        return pb.ValidateDataResourceConfig.Response()

    def UpgradeResourceState(self, request, context):
        return pb.UpgradeResourceState.Response(diagnostics=REFUSAL)

    def ConfigureProvider(self, request, context):
        return pb.ConfigureProvider.Response(diagnostics=REFUSAL)

    def PlanResourceChange(self, request, context):
        return pb.PlanResourceChange.Response(diagnostics=REFUSAL)

    def ReadDataSource(self, request, context):
        return pb.ReadDataSource.Response(diagnostics=REFUSAL)


class Identity:
    def full_name(self):
        return "registry.terraform.io/hashicorp/aws"


# The runner makes its server from this name.
tf.provider.ProviderServicer = SchemaOnly

import tf.runner  # noqa: E402

tf.runner.run_provider(Identity())
