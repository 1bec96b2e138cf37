//! Core's tests, built for the target of Workers and run there: what compiles but panics on wasm (a clock, a thread,
//! a random source) is found here.

use std::collections::BTreeSet;
use std::fs;

use anyhow::Context;

use super::unit;
use crate::project::Project;
use crate::test::names;
use crate::test::stage::Stage;
use crate::tools::Tool;
use crate::wasm::{TARGET, WasmToolchain, require_node};

/// The tests that can't run on wasm, each with the reason, below core's folder.
const NATIVE_ONLY: &str = "native-only-tests.txt";

pub(super) fn run(stage: &mut Stage<'_>) -> anyhow::Result<()> {
    require_node()?;
    let project = stage.project;
    let toolchain = WasmToolchain::find(project)?;
    let runner = Tool::WasmBindgen.ensure(project)?;
    let test = toolchain
        .cargo()
        .args(["test", "--package", Project::CORE, "--target", TARGET])
        .args(["--lib", "--tests", "--all-features", "--no-fail-fast"])
        .env("CARGO_TARGET_WASM32_UNKNOWN_UNKNOWN_RUNNER", &runner)
        // What is there on wasm only, the `clippy` stage does not see.
        .env(
            "CARGO_TARGET_WASM32_UNKNOWN_UNKNOWN_RUSTFLAGS",
            "-D warnings",
        )
        .dir(&project.root);
    let ran = stage.tests("core's tests under Node", &test)?;

    let core = project.package(Project::CORE)?;
    let native = names::tests(&unit::workspace(stage), &core.id, None)?;
    let wasm = names::tests(&test, &core.id, Some(&runner))?;
    let path = core.dir().join(NATIVE_ONLY);
    let excepted =
        fs::read_to_string(&path).with_context(|| format!("can't read {}", path.display()))?;
    let mut faults = compare(&native, &wasm, &excepted);
    if ran.passed + ran.failed + ran.ignored != wasm.len() {
        faults.push(format!(
            "{} tests are listed on wasm, but {ran}",
            wasm.len()
        ));
    }
    stage.verify(
        &format!(
            "{} of {} native tests of core ran on wasm",
            wasm.len(),
            native.len()
        ),
        &faults,
    );
    Ok(())
}

/// What is wrong with the tests on wasm: each native test runs there too, or is listed with its reason; and what is
/// listed exists, and indeed does not run there.
fn compare(native: &BTreeSet<String>, wasm: &BTreeSet<String>, excepted: &str) -> Vec<String> {
    let mut faults = Vec::new();
    let mut missing: BTreeSet<_> = native.difference(wasm).map(String::as_str).collect();
    for line in excepted
        .lines()
        .map(str::trim)
        .filter(|line| !line.is_empty() && !line.starts_with('#'))
    {
        let (name, reason) = line.split_once('#').unwrap_or((line, ""));
        let name = name.trim();
        let mut fault = |why: &str| faults.push(format!("{NATIVE_ONLY}: `{name}` {why}"));
        if reason.trim().is_empty() {
            fault("has no reason: write `TARGET NAME  # why`");
        }
        if !native.iter().any(|test| is_meant(name, test)) {
            fault("names no test: remove the line");
        }
        if wasm.iter().any(|test| is_meant(name, test)) {
            fault("runs on wasm: remove the line");
        }
        missing.retain(|test| !is_meant(name, test));
    }
    faults.extend(missing.iter().map(|name| {
        format!(
            "`{name}` does not run on wasm: see CONTRIBUTING.md, or name it in core/{NATIVE_ONLY}"
        )
    }));
    if native.is_empty() {
        faults.push(String::from("core has no native tests"));
    }
    faults
}

/// Whether `name` is that of `test`, or of a module that `test` is in.
fn is_meant(name: &str, test: &str) -> bool {
    match name.strip_suffix('*') {
        Some(module) => module.ends_with("::") && test.starts_with(module),
        None => name == test,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn set(names: &[&str]) -> BTreeSet<String> {
        names.iter().map(|name| String::from(*name)).collect()
    }

    #[test]
    fn a_native_test_that_is_missing_on_wasm_is_a_fault_unless_it_is_listed_with_a_reason() {
        let (native, wasm) = (set(&["lib a", "lib b"]), set(&["lib a"]));
        assert_eq!(compare(&native, &wasm, "# none").len(), 1);
        assert_eq!(
            compare(&native, &wasm, "lib b  # starts threads\n"),
            [""; 0]
        );
        let without_reason = compare(&native, &wasm, "lib b\n");
        assert!(
            without_reason.len() == 1 && without_reason[0].contains("has no reason"),
            "{without_reason:?}"
        );
    }

    #[test]
    fn an_exception_that_does_not_hold_is_a_fault() {
        let all = set(&["lib a"]);
        assert!(compare(&all, &all, "lib a  # threads")[0].contains("runs on wasm"));
        assert!(compare(&all, &all, "lib c  # threads")[0].contains("`lib c` names no test"));
        assert_eq!(compare(&set(&[]), &set(&[]), "").len(), 1);
    }

    #[test]
    fn a_module_is_excepted_whole_or_not_at_all() {
        let native = set(&["lib a::x", "lib a::y", "lib ab::z"]);
        let (none, one) = (set(&["lib ab::z"]), set(&["lib a::x", "lib ab::z"]));
        assert_eq!(compare(&native, &none, "lib a::*  # threads"), [""; 0]);
        assert_eq!(compare(&native, &one, "lib a::*  # threads").len(), 1);
        // Anything else with an asterisk means nothing, and so excepts nothing.
        assert_eq!(compare(&native, &none, "lib a*  # threads").len(), 3);
    }
}
