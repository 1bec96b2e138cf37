//! What core's own code may not call, by the `clippy.toml` in its folder: that the bans hold in core with no way
//! round them, and that each of them can fire.

use std::collections::{BTreeMap, BTreeSet};
use std::fs;
use std::path::{Path, PathBuf};

use anyhow::Context;
use serde::Deserialize;

use crate::command::Command;
use crate::project::Project;
use crate::test::stage::Stage;

/// For each thing that core may not touch, a statement that does. A ban without a statement here, or the other way
/// round, is a fault: so no ban goes untried, and none is lifted by taking it out of `clippy.toml` alone.
const OFFENCES: &[(&str, &str)] = &[
    (
        "std::time::SystemTime::now",
        "let _now = std::time::SystemTime::now();",
    ),
    (
        "std::time::Instant::now",
        "let _now = std::time::Instant::now();",
    ),
    (
        "std::thread::sleep",
        "std::thread::sleep(std::time::Duration::ZERO);",
    ),
    (
        "std::thread::spawn",
        "let _thread = std::thread::spawn(|| ());",
    ),
    ("std::env::var", "let _variable = std::env::var(\"X\");"),
    (
        "std::collections::hash_map::RandomState::new",
        "let _seeds = std::collections::hash_map::RandomState::new();",
    ),
    (
        "std::collections::HashMap",
        "let _map = std::collections::HashMap::<u8, u8>::default();",
    ),
    (
        "std::collections::HashSet",
        "let _set = std::collections::HashSet::<u8>::default();",
    ),
];

const METHODS: &str = "clippy::disallowed_methods";
const TYPES: &str = "clippy::disallowed_types";

pub(super) fn run(stage: &mut Stage<'_>) -> anyhow::Result<()> {
    let project = stage.project;
    let core = project.package(Project::CORE)?.dir();
    // `forbid`: an `allow` or `expect` in core's code is then an error itself. Tests, which may use threads, are not
    // in this build.
    let forbid = Command::cargo()
        .args([
            "clippy",
            "--package",
            Project::CORE,
            "--lib",
            "--all-features",
            "--",
        ])
        .args(["-F", METHODS, "-F", TYPES])
        .dir(&project.root);
    stage.check("core calls nothing that is banned", &forbid)?;

    let config = fs::read_to_string(core.join("clippy.toml")).context("core has no clippy.toml")?;
    let canary = write_canary(&project.scratch("ban-canary")?, &project.root, &config)?;
    let clippy = Command::cargo()
        .args([
            "clippy",
            "--offline",
            "--workspace",
            "--message-format=json",
            "--",
            "-D",
            "warnings",
        ])
        .env(
            "CARGO_TARGET_DIR",
            project.target.join("xtask").join("ban-canary-target"),
        )
        .dir(&canary);
    let finished = clippy.log_to(stage.log())?;
    let mut faults = unlisted(&config)?;
    faults.extend(silent(&finished.output));
    if finished.success {
        faults.push(String::from("clippy accepted code that is banned"));
    }
    stage.verify(
        &format!("each of core's {} bans fires", OFFENCES.len()),
        &faults,
    );
    Ok(())
}

/// A workspace of the same shape as ours, whose `core` commits every offence, one a line.
fn write_canary(dir: &Path, root: &Path, config: &str) -> anyhow::Result<PathBuf> {
    fs::create_dir_all(dir.join("core/src"))?;
    fs::write(
        dir.join("Cargo.toml"),
        "[workspace]\nresolver = \"3\"\nmembers = [\"core\"]\n",
    )?;
    fs::copy(root.join("clippy.toml"), dir.join("clippy.toml"))?;
    fs::write(
        dir.join("core/Cargo.toml"),
        "[package]\nname = \"canary\"\nversion = \"0.0.0\"\nedition = \"2024\"\n",
    )?;
    fs::write(dir.join("core/clippy.toml"), config)?;
    let mut source = String::from("pub fn offend() {\n");
    for (_, statement) in OFFENCES {
        source.push_str(&format!("{statement}\n"));
    }
    source.push_str("}\n");
    fs::write(dir.join("core/src/lib.rs"), source)?;
    Ok(dir.into())
}

#[derive(Deserialize)]
#[serde(rename_all = "kebab-case")]
struct Config {
    disallowed_methods: Vec<Ban>,
    disallowed_types: Vec<Ban>,
}

#[derive(Deserialize)]
struct Ban {
    path: String,
}

/// Bans without an offence, and offences without a ban.
fn unlisted(config: &str) -> anyhow::Result<Vec<String>> {
    let config: Config = toml::from_str(config).context("core's clippy.toml can't be read")?;
    let bans: BTreeSet<_> = config
        .disallowed_methods
        .iter()
        .chain(&config.disallowed_types)
        .map(|ban| ban.path.as_str())
        .collect();
    let offences: BTreeSet<_> = OFFENCES.iter().map(|(path, _)| *path).collect();
    let mut faults: Vec<_> = offences
        .difference(&bans)
        .map(|path| format!("core's clippy.toml no longer bans {path}"))
        .collect();
    faults.extend(
        bans.difference(&offences)
            .map(|path| format!("no statement here tries the ban of {path}")),
    );
    Ok(faults)
}

#[derive(Deserialize)]
struct Message {
    message: Option<Diagnostic>,
}

#[derive(Deserialize)]
struct Diagnostic {
    message: String,
    code: Option<Code>,
    spans: Vec<Span>,
}

#[derive(Deserialize)]
struct Code {
    code: String,
}

#[derive(Deserialize)]
struct Span {
    line_start: usize,
}

/// The offences that clippy said nothing about, each on its own line.
fn silent(output: &str) -> Vec<String> {
    let mut fired: BTreeMap<usize, Vec<String>> = BTreeMap::new();
    let messages = output
        .lines()
        .filter_map(|line| serde_json::from_str::<Message>(line).ok())
        .filter_map(|m| m.message);
    for diagnostic in messages {
        if diagnostic
            .code
            .is_some_and(|code| code.code == METHODS || code.code == TYPES)
        {
            for span in diagnostic.spans {
                fired
                    .entry(span.line_start)
                    .or_default()
                    .push(diagnostic.message.clone());
            }
        }
    }
    OFFENCES
        .iter()
        .enumerate()
        // The first offence is on the second line.
        .filter(|(index, (path, _))| {
            let messages = fired
                .get(&(index + 2))
                .map(Vec::as_slice)
                .unwrap_or_default();
            !messages
                .iter()
                .any(|message| message.contains(&format!("`{path}`")))
        })
        .map(|(_, (path, _))| format!("clippy accepts {path} in core"))
        .collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn config(without: &str, more: &str) -> String {
        let list = |types: bool| {
            OFFENCES
                .iter()
                .filter(|(path, _)| *path != without && path.contains("::Hash") == types)
                .map(|(path, _)| format!("{{ path = \"{path}\" }}"))
                .collect::<Vec<_>>()
                .join(", ")
        };
        format!(
            "disallowed-methods = [{}{more}]\ndisallowed-types = [{}]\n",
            list(false),
            list(true)
        )
    }

    #[test]
    fn a_ban_that_was_lifted_and_one_that_is_not_tried_are_faults() {
        assert_eq!(unlisted(&config("", "")).unwrap(), [""; 0]);
        let lifted = unlisted(&config("std::time::Instant::now", "")).unwrap();
        assert_eq!(
            lifted,
            ["core's clippy.toml no longer bans std::time::Instant::now"]
        );
        let untried = unlisted(&config("", ", { path = \"std::process::id\" }")).unwrap();
        assert_eq!(
            untried,
            ["no statement here tries the ban of std::process::id"]
        );
    }

    #[test]
    fn an_offence_without_a_diagnostic_is_a_fault() {
        let message = |line: usize, path: &str| {
            format!(
                r#"{{"reason":"compiler-message","message":{{"message":"use of a disallowed method `{path}`","code":{{"code":"{METHODS}"}},"spans":[{{"line_start":{line}}}]}}}}"#
            )
        };
        let all: Vec<_> = OFFENCES
            .iter()
            .enumerate()
            .map(|(index, (path, _))| message(index + 2, path))
            .collect();
        assert_eq!(silent(&all.join("\n")), [""; 0]);
        assert_eq!(
            silent(&all[1..].join("\n")),
            ["clippy accepts std::time::SystemTime::now in core"]
        );
        assert_eq!(silent("error: no such command").len(), OFFENCES.len());
    }
}
