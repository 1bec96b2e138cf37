#!/usr/bin/env bash
# check.sh CACHE: checks the module with the real `terraform` (TERRAFORM names another one), without AWS and without the
# real provider: CACHE keeps a provider that has the schema only (provider-schema/README.md). Nothing is written here:
# all runs on copies. The exit status is 0 when everything holds.
set -euo pipefail
exec </dev/null

[ $# -eq 1 ] || { echo "usage: check.sh CACHE" >&2; exit 2; }
here=$(cd "$(dirname "${BASH_SOURCE[0]}")" && pwd)
terraform=${TERRAFORM:-terraform}
export TF_INPUT=0 TF_IN_AUTOMATION=1 CHECKPOINT_DISABLE=1
# What a user has set for deployments of their own is none of a check's business.
unset TF_CLI_ARGS TF_CLI_ARGS_init TF_CLI_ARGS_validate TF_CLI_ARGS_test TF_WORKSPACE TF_DATA_DIR TF_LOG

scratch=$(mktemp -d)
trap 'rm -rf "$scratch"' EXIT
log=$scratch/log

verdict() { printf 'terraform %-22s %s\n' "$1" "$2"; }

# step NAME COMMAND…: prints what the command printed only when it fails.
step() {
  local name=$1
  shift
  if "$@" >"$log" 2>&1; then
    verdict "$name" ok
  else
    cat "$log"
    verdict "$name" FAILED
    exit 1
  fi
}

# copy TO: the module's own files, without what terraform leaves behind.
copy() {
  mkdir -p "$1"
  (cd "$here" && tar cf - --exclude=.terraform --exclude=.terraform.lock.hcl --exclude='*.tfstate*' .) | (cd "$1" && tar xf -)
}

"$here/provider-schema/setup.sh" "$1"
TF_CLI_CONFIG_FILE=$(cd "$1" && pwd)/terraform.rc
export TF_CLI_CONFIG_FILE
"$terraform" version | head -n 1

module=$scratch/module
copy "$module"
cd "$module"
step "fmt" "$terraform" fmt -check -recursive -diff
step "init" "$terraform" init -backend=false -no-color
step "validate" "$terraform" validate -no-color

cd "$module/examples/complete"
step "init, example" "$terraform" init -backend=false -no-color
step "validate, example" "$terraform" validate -no-color

# A run that found no tests is green too.
tests() {
  step "$1" "$terraform" test -no-color
  local summary
  if ! summary=$(grep -E '^Success! [1-9][0-9]* passed, 0 failed' "$log"); then
    cat "$log"
    verdict "$1" "FAILED: nothing was run"
    exit 1
  fi
  echo "  $summary"
}
tests "test, example"
cd "$module"
tests "test"

# What no test can name: that nothing else is public. All that a run made is read from its state.
step "public access" "$terraform" test -json -verbose -filter=tests/deployment.tftest.hcl
cp "$log" "$scratch/states"
step "public access, judged" python3 "$module/tests/public_access.py" "$scratch/states"

# A check that can't fail shows nothing: an argument that there isn't must be refused, by its name.
wrong=$scratch/wrong
copy "$wrong"
cd "$wrong"
sed 's/invoked_via_function_url = true/invoked_via_function_urls = true/' "$here/url.tf" >url.tf
if cmp -s url.tf "$here/url.tf"; then
  verdict "misspelled argument" "FAILED: there was nothing to misspell"
  exit 1
fi
step "init, misspelled" "$terraform" init -backend=false -no-color
if "$terraform" validate -no-color >"$log" 2>&1; then
  verdict "misspelled argument" "FAILED: it was taken for valid"
  exit 1
elif ! grep -q 'An argument named "invoked_via_function_urls" is not expected here' "$log"; then
  cat "$log"
  verdict "misspelled argument" "FAILED: refused for another reason"
  exit 1
fi
verdict "misspelled argument" "refused, as it must be"
