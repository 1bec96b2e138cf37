//! What core depends on: every crate is in a list that someone answers for, and none is of a kind that core must not
//! have, whatever the list says.

use std::collections::{BTreeMap, BTreeSet};
use std::fs;
use std::path::Path;

use anyhow::{Context, ensure};

use crate::command::Command;
use crate::project::Project;
use crate::test::stage::Stage;

/// The reviewed crates, below core's folder.
const REVIEWED: &str = "dependencies.txt";

/// The features that each crate is built with.
pub(super) type Tree = BTreeMap<String, BTreeSet<String>>;

/// Crates that core must never reach, by what they bring. A name that ends in `*` stands for all that begin so.
const BANNED: &[(&str, &str)] = &[
    (
        "a runtime",
        "async-executor async-global-executor async-std compio* embassy-* \
         futures-executor glommio monoio pollster rayon* smol threadpool tokio*",
    ),
    (
        "input and output",
        "async-io async-net axum* curl* h2 hyper* isahc libsqlite3-sys mio native-tls \
         polling reqwest rusqlite rustls* socket2 tonic* ureq*",
    ),
    (
        "a clock",
        "chrono* coarsetime futures-timer gloo-timers iana-time-zone instant jiff* \
         minstant quanta time wasm-timer wasmtimer web-time",
    ),
    (
        "a random source",
        "ahash const-random fastrand getrandom nanoid nanorand oorandom rand rand_chacha \
         rand_os rand_pcg rand_xorshift rand_xoshiro ulid uuid",
    ),
    (
        "a platform",
        "aws-* js-sys lambda* wasm-bindgen* web-sys wasi* worker*",
    ),
];

/// Features that bring a clock or a random source to crates that are harmless without.
const BANNED_FEATURES: &str = "clock fast-rng getrandom js now os_rng rand rng runtime-rng std_rng sys_rng \
     thread_rng wasm_js wasmbind";

pub(super) fn run(stage: &mut Stage<'_>) -> anyhow::Result<()> {
    let core = stage.project.package(Project::CORE)?;
    let path = core.dir().join(REVIEWED);
    let reviewed =
        fs::read_to_string(&path).with_context(|| format!("can't read {}", path.display()))?;
    let root = &stage.project.root;
    let crates = core_tree(root, "normal,no-proc-macro")?;
    stage.verify(
        &format!("core's {} dependencies", crates.len()),
        &faults(&crates, &reviewed),
    );

    // With what its tests use, core reaches random sources: a check that does not see them sees nothing.
    let with_tests = banned(&core_tree(root, "normal,dev,no-proc-macro")?);
    let canary = if with_tests.iter().any(|fault| fault.contains("`getrandom`")) {
        Vec::new()
    } else {
        vec![String::from(
            "`getrandom`, which core's tests reach, is not seen",
        )]
    };
    stage.verify(
        "the same check finds what core's tests bring along",
        &canary,
    );
    Ok(())
}

/// Each crate that core depends on (itself not counted), on any target, with the features it is built with.
fn core_tree(root: &Path, edges: &str) -> anyhow::Result<Tree> {
    let mut crates = tree(root, Project::CORE, edges, &["--all-features"])?;
    ensure!(
        crates.remove(Project::CORE).is_some(),
        "`cargo tree` does not begin with {}",
        Project::CORE
    );
    Ok(crates)
}

/// A package of the workspace in `root` and what it depends on, on any target.
pub(super) fn tree(root: &Path, package: &str, edges: &str, more: &[&str]) -> anyhow::Result<Tree> {
    let text = Command::cargo()
        .args(["tree", "--package", package, "--edges", edges])
        .args(["--target", "all", "--prefix", "none", "--no-dedupe"])
        .args(["--format", "{p}\t{f}"])
        .args(more)
        .dir(root)
        .read()?;
    Ok(parse(&text))
}

fn parse(text: &str) -> Tree {
    let mut crates: Tree = BTreeMap::new();
    for line in text.lines() {
        let (package, features) = line.split_once('\t').unwrap_or((line, ""));
        if let Some(name) = package.split_whitespace().next() {
            let features = features
                .split(',')
                .map(str::trim)
                .filter(|feature| !feature.is_empty());
            crates
                .entry(String::from(name))
                .or_default()
                .extend(features.map(String::from));
        }
    }
    crates
}

fn faults(crates: &Tree, reviewed: &str) -> Vec<String> {
    let reviewed: BTreeSet<_> = reviewed
        .lines()
        .map(|line| line.split('#').next().unwrap_or_default().trim())
        .filter(|name| !name.is_empty())
        .collect();
    let mut faults = banned(crates);
    let new = crates
        .keys()
        .filter(|name| !reviewed.contains(name.as_str()));
    faults.extend(new.map(|name| {
        format!("core now depends on `{name}`: see that it brings no runtime, clock or random source, and add it to {REVIEWED}")
    }));
    let gone = reviewed.iter().filter(|name| !crates.contains_key(**name));
    faults.extend(
        gone.map(|name| format!("core no longer depends on `{name}`: remove it from {REVIEWED}")),
    );
    faults
}

fn banned(crates: &Tree) -> Vec<String> {
    let mut faults = Vec::new();
    for (name, features) in crates {
        for (kind, patterns) in BANNED {
            if patterns
                .split_whitespace()
                .any(|pattern| matches(pattern, name))
            {
                faults.push(format!(
                    "core depends on `{name}`, {kind}: `cargo tree -p {} -e normal --target all -i {name}` says why",
                    Project::CORE
                ));
            }
        }
        for feature in features.iter().filter(|feature| {
            BANNED_FEATURES
                .split_whitespace()
                .any(|banned| banned == *feature)
        }) {
            faults.push(format!("core builds `{name}` with its feature `{feature}`"));
        }
    }
    faults
}

fn matches(pattern: &str, name: &str) -> bool {
    pattern
        .strip_suffix('*')
        .map_or(pattern == name, |prefix| name.starts_with(prefix))
}

#[cfg(test)]
mod tests {
    use super::*;

    const PURE: &str =
        "pup-extension v0.1.0 (/p/core)\tdefault\nbytes v1.12.2\tdefault,std\nitoa v1.0.19\t\n";
    const REVIEWED: &str = "# reviewed\npup-extension\nbytes  # buffers\nitoa\n";

    #[test]
    fn a_reviewed_tree_is_fine() {
        assert_eq!(faults(&parse(PURE), REVIEWED), [""; 0]);
    }

    #[test]
    fn a_runtime_is_found_even_when_someone_put_it_on_the_list() {
        let tree = format!("{PURE}tokio v1.50.0\trt,time\n");
        let found = faults(&parse(&tree), &format!("{REVIEWED}tokio\n"));
        assert!(
            found.len() == 1 && found[0].contains("`tokio`, a runtime"),
            "{found:?}"
        );
    }

    #[test]
    fn clocks_random_sources_and_platforms_are_found() {
        for name in [
            "time",
            "chrono",
            "getrandom",
            "rand",
            "uuid",
            "aws-config",
            "lambda_http",
            "worker-sys",
            "wasm-bindgen",
        ] {
            assert_eq!(
                banned(&parse(&format!("{name} v1.0.0\t"))).len(),
                1,
                "{name}"
            );
        }
        for name in ["serde", "timely", "rand_core", "futures-util", "tracing"] {
            assert_eq!(
                banned(&parse(&format!("{name} v1.0.0\t"))),
                [""; 0],
                "{name}"
            );
        }
    }

    #[test]
    fn a_feature_that_brings_randomness_is_found() {
        let found = banned(&parse("crypto-common v0.2.2\tgetrandom,std\n"));
        assert_eq!(
            found,
            ["core builds `crypto-common` with its feature `getrandom`"]
        );
    }

    #[test]
    fn a_crate_that_nobody_reviewed_and_one_that_is_gone_are_found() {
        let tree = PURE.replace("itoa", "ryu");
        let found = faults(&parse(&tree), REVIEWED);
        assert!(
            found.len() == 2 && found[0].contains("`ryu`") && found[1].contains("`itoa`"),
            "{found:?}"
        );
    }
}
