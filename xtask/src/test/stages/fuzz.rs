//! Each fuzz target for a bounded number of inputs: enough to see that it builds, runs, and holds for its seeds and
//! what is near them. Longer hunts, with the address sanitizer, are run by hand with `cargo fuzz`.
//!
//! What `cargo fuzz` does is, without a sanitizer, a build with the coverage that libFuzzer goes by. A stable compiler
//! can do that, so this stage needs neither a nightly one nor another tool.

use std::fs;
use std::path::Path;

use anyhow::{Context, ensure};
use serde::Deserialize;

use crate::command::Command;
use crate::test::stage::Stage;

/// How many inputs each target runs, its seeds among them.
const RUNS: u32 = 20_000;
/// The longest a single input may take, in seconds.
const INPUT_SECONDS: u32 = 10;

/// Coverage for libFuzzer, and whatever may panic panics.
const RUSTFLAGS: &str = "--cfg fuzzing -Cpasses=sancov-module -Cllvm-args=-sanitizer-coverage-level=4 \
     -Cllvm-args=-sanitizer-coverage-inline-8bit-counters -Cllvm-args=-sanitizer-coverage-pc-table \
     -Cllvm-args=-sanitizer-coverage-trace-compares -Ccodegen-units=1 -Cdebug-assertions -Coverflow-checks";

pub(super) fn run(stage: &mut Stage<'_>) -> anyhow::Result<()> {
    let project = stage.project;
    let fuzz = project.root.join("fuzz");
    let targets = targets(&fuzz)?;
    stage.verify(
        &format!("{} targets, one a file", targets.len()),
        &undeclared(&fuzz, &targets)?,
    );

    let target_dir = project.target.join("fuzz");
    // Naming a target keeps the flags from what runs while building.
    let host = host()?;
    let build = Command::cargo()
        .args(["build", "--release", "--bins", "--target", &host])
        .env("CARGO_TARGET_DIR", &target_dir)
        .env("RUSTFLAGS", RUSTFLAGS)
        .dir(&fuzz);
    stage.check("all targets build", &build)?;

    for target in &targets {
        let seeds = fuzz.join("seeds").join(target);
        let scratch = project.scratch("fuzz")?;
        // What was found in an earlier run is not met again, so that each run does the same.
        let corpus = scratch.join(target);
        match fs::remove_dir_all(&corpus) {
            Err(error) if error.kind() != std::io::ErrorKind::NotFound => return Err(error.into()),
            _ => fs::create_dir_all(&corpus)?,
        }
        let run = Command::new(target_dir.join(&host).join("release").join(target))
            // The first folder takes what the fuzzer finds; the seeds are only read.
            .arg(&corpus)
            .args(seeds.is_dir().then_some(&seeds))
            .arg(format!("-runs={RUNS}"))
            .arg(format!("-timeout={INPUT_SECONDS}"))
            .arg("-seed=1")
            .arg(format!("-artifact_prefix={}/{target}-", scratch.display()));
        let output = stage.check(&format!("{target}, {RUNS} inputs"), &run)?;
        if !ran_inputs(&output) {
            stage.verify(
                target,
                &[String::from(
                    "the fuzzer does not say that it ran its inputs",
                )],
            );
        }
    }
    Ok(())
}

#[derive(Deserialize)]
struct Metadata {
    packages: Vec<Package>,
}

#[derive(Deserialize)]
struct Package {
    targets: Vec<Target>,
}

#[derive(Deserialize)]
struct Target {
    name: String,
    kind: Vec<String>,
}

fn targets(fuzz: &Path) -> anyhow::Result<Vec<String>> {
    let metadata = Command::cargo()
        .args(["metadata", "--format-version", "1", "--no-deps"])
        .dir(fuzz)
        .read()?;
    let metadata: Metadata =
        serde_json::from_str(&metadata).context("cargo's metadata can't be read")?;
    let targets: Vec<_> = metadata
        .packages
        .into_iter()
        .flat_map(|package| package.targets)
        .filter(|target| target.kind.iter().any(|kind| kind == "bin"))
        .map(|target| target.name)
        .collect();
    ensure!(!targets.is_empty(), "fuzz/Cargo.toml names no target");
    Ok(targets)
}

/// Files of fuzz targets that the manifest does not name, which would never be built.
fn undeclared(fuzz: &Path, targets: &[String]) -> anyhow::Result<Vec<String>> {
    let mut faults = Vec::new();
    for file in fs::read_dir(fuzz.join("fuzz_targets")).context("there are no fuzz targets")? {
        let path = file?.path();
        let name = path.file_stem().unwrap_or_default().to_string_lossy();
        if !targets.iter().any(|target| *target == name) {
            faults.push(format!("fuzz/Cargo.toml does not name the target `{name}`"));
        }
    }
    Ok(faults)
}

/// The triple of this machine.
fn host() -> anyhow::Result<String> {
    let version = Command::new("rustc").arg("-vV").read()?;
    version
        .lines()
        .find_map(|line| line.strip_prefix("host: "))
        .map(String::from)
        .context("`rustc -vV` names no host")
}

/// Whether the fuzzer's closing line (`Done 123 runs in 10 second(s)`) counts all runs.
fn ran_inputs(output: &str) -> bool {
    output
        .lines()
        .filter_map(|line| {
            line.strip_prefix("Done ")?
                .split_once(" runs in ")?
                .0
                .parse::<u32>()
                .ok()
        })
        .any(|runs| runs >= RUNS)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_run_that_ended_early_is_told_from_a_whole_one() {
        assert!(ran_inputs(&format!(
            "INFO: seed\nDone {RUNS} runs in 11 second(s)\n"
        )));
        assert!(!ran_inputs("Done 7 runs in 11 second(s)\n"));
        assert!(!ran_inputs("Finished release profile\n"));
    }

    #[test]
    fn a_target_that_the_manifest_does_not_name_is_a_fault() {
        let dir = tempfile::tempdir().unwrap();
        let targets = dir.path().join("fuzz_targets");
        fs::create_dir(&targets).unwrap();
        fs::write(targets.join("one.rs"), "").unwrap();
        assert_eq!(
            undeclared(dir.path(), &[String::from("one")]).unwrap(),
            [""; 0]
        );
        assert_eq!(undeclared(dir.path(), &[]).unwrap().len(), 1);
    }
}
