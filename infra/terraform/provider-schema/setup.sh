#!/usr/bin/env bash
# setup.sh DIR: makes DIR/terraform.rc, with which `terraform` finds a provider of the name hashicorp/aws that has its
# schema and nothing else. See README.md for what that is worth. What DIR holds already is used again.
set -euo pipefail
exec </dev/null

package=25.7.0   # of @cdktn/provider-aws: generated from …
provider=6.66.0  # … this version of hashicorp/aws
plugin=1.2.0     # of the Python package `tf`, which speaks the plugin protocol

here=$(cd "$(dirname "${BASH_SOURCE[0]}")" && pwd)
[ $# -eq 1 ] || { echo "usage: setup.sh DIR" >&2; exit 2; }
mkdir -p "$1"
dir=$(cd "$1" && pwd)

# Another version, or another way to rebuild, is another schema.
stamp=$(cat "$here/rebuild.py" "$here/setup.sh" | sha256sum | cut -c1-16)
schema=$dir/schema-$stamp.json
venv=$dir/venv-$plugin

if [ ! -x "$venv/bin/python" ] || ! "$venv/bin/python" -c 'import tf.runner' 2>/dev/null; then
  rm -rf "$venv"
  python3 -m venv "$venv"
  "$venv/bin/pip" install --quiet --disable-pip-version-check "tf==$plugin"
fi

if [ ! -f "$schema" ]; then
  work=$(mktemp -d "$dir/rebuild.XXXXXX")
  trap 'rm -rf "$work"' EXIT
  (cd "$work" && npm pack --silent "@cdktn/provider-aws@$package" >/dev/null && tar xzf ./*.tgz)
  "$venv/bin/python" "$here/rebuild.py" "$work/package/lib" "$provider" "$work/schema.json"
  mv "$work/schema.json" "$schema"
fi

case $(uname -s) in Linux) os=linux ;; Darwin) os=darwin ;; *) echo "not made for $(uname -s)" >&2; exit 1 ;; esac
case $(uname -m) in x86_64) arch=amd64 ;; aarch64 | arm64) arch=arm64 ;; *) echo "not made for $(uname -m)" >&2; exit 1 ;; esac
binary=$dir/mirror/registry.terraform.io/hashicorp/aws/$provider/${os}_$arch/terraform-provider-aws_v$provider
mkdir -p "$(dirname "$binary")"
{
  echo "#!$venv/bin/python"
  echo "SCHEMA_FILE = '$schema'"
  # Where the plugin keeps its certificate, else in the user's own folder.
  echo "import os; os.environ['HOME'] = '$dir'"
  cat "$here/provider.py"
} >"$binary.new"
chmod +x "$binary.new"
mv "$binary.new" "$binary"

printf 'provider_installation {\n  filesystem_mirror {\n    path = "%s"\n  }\n}\n' "$dir/mirror" >"$dir/terraform.rc"
echo "provider: the schema of hashicorp/aws $provider, rebuilt from @cdktn/provider-aws $package; not the provider itself"
