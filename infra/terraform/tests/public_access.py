"""Reads what `terraform test -json -verbose` printed: whatever opens a function to the world must be one of these."""

import json
import sys

ALLOWED = {
    "aws_lambda_function_url.http": "snacks-http",
    "aws_lambda_permission.url": "snacks-http",
    "aws_lambda_permission.via_url": "snacks-http",
}
OPENING = {"aws_lambda_function_url", "aws_lambda_permission", "aws_lambda_layer_version_permission"}


def resources(module):
    yield from module.get("resources", [])
    for child in module.get("child_modules", []):
        yield from resources(child)


def main(path):
    states = 0
    with open(path) as lines:
        for line in lines:
            if not line.startswith("{"):
                continue
            message = json.loads(line)
            if message.get("type") != "test_state":
                continue
            states += 1
            root = message["test_state"]["root_module"]
            found = {r["address"]: r["values"]["function_name"] for r in resources(root) if r["type"] in OPENING}
            if found != ALLOWED:
                sys.exit(f"open to the world: {found}, and not {ALLOWED}")
    if not states:
        sys.exit("no state was printed")
    print(f"{states} states, each with the URL and its two permissions and nothing else")


if __name__ == "__main__":
    main(sys.argv[1])
