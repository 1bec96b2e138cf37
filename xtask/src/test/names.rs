//! The names of the tests that a build of a package brings, whatever the target runs them with.

use std::collections::BTreeSet;
use std::path::{Path, PathBuf};

use anyhow::Context;
use serde::Deserialize;

use crate::command::Command;

/// A test binary that cargo built.
#[derive(Debug, PartialEq)]
struct Binary {
    target: String,
    path: PathBuf,
}

/// The names of all tests of one package, each with the name of the target that it is in: `lib time::tests::…`.
///
/// `build` is a `cargo test` that builds at least that package; `runner` runs what can't run by itself.
///
/// # Errors
///
/// When the build fails, or a binary can't list its tests.
pub(crate) fn tests(
    build: &Command,
    package_id: &str,
    runner: Option<&Path>,
) -> anyhow::Result<BTreeSet<String>> {
    let messages = build
        .clone()
        .args(["--no-run", "--message-format=json"])
        .read()?;
    let mut names = BTreeSet::new();
    for binary in binaries(&messages, package_id)? {
        let list = match runner {
            Some(runner) => Command::new(runner).arg(&binary.path),
            None => Command::new(&binary.path),
        };
        let list = list.arg("--list").read()?;
        names.extend(
            list.lines()
                .filter_map(|line| line.strip_suffix(": test"))
                .map(|name| format!("{} {name}", binary.target)),
        );
    }
    Ok(names)
}

#[derive(Deserialize)]
struct Message {
    reason: String,
    package_id: Option<String>,
    target: Option<Target>,
    profile: Option<Profile>,
    executable: Option<PathBuf>,
}

#[derive(Deserialize)]
struct Target {
    name: String,
    kind: Vec<String>,
}

#[derive(Deserialize)]
struct Profile {
    test: bool,
}

fn binaries(messages: &str, package_id: &str) -> anyhow::Result<Vec<Binary>> {
    let mut binaries = Vec::new();
    for line in messages.lines().filter(|line| line.starts_with('{')) {
        let message: Message =
            serde_json::from_str(line).context("cargo's messages can't be read")?;
        let ours = message.reason == "compiler-artifact"
            && message.package_id.as_deref() == Some(package_id)
            && message.profile.is_some_and(|profile| profile.test);
        if let (true, Some(target), Some(path)) = (ours, message.target, message.executable) {
            let is_lib = target.kind.iter().any(|kind| kind == "lib");
            let target = if is_lib {
                String::from("lib")
            } else {
                target.name
            };
            binaries.push(Binary { target, path });
        }
    }
    Ok(binaries)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_the_packages_own_test_binaries_are_asked() {
        let artifact = |package: &str, kind: &str, name: &str, test: bool, executable: &str| {
            format!(
                r#"{{"reason":"compiler-artifact","package_id":"{package}","target":{{"kind":["{kind}"],"name":"{name}"}},"profile":{{"test":{test}}},"executable":{executable}}}"#
            )
        };
        let messages = [
            artifact("core", "lib", "pup_extension", true, r#""/t/lib""#),
            artifact("core", "lib", "pup_extension", false, "null"),
            artifact("core", "test", "black_box", true, r#""/t/black_box""#),
            artifact("xtask", "bin", "xtask", true, r#""/t/xtask""#),
            String::from(r#"{"reason":"build-finished","success":true}"#),
        ];
        let found = binaries(&messages.join("\n"), "core").unwrap();
        let found: Vec<_> = found
            .iter()
            .map(|b| (b.target.as_str(), b.path.to_str().unwrap()))
            .collect();
        assert_eq!(found, [("lib", "/t/lib"), ("black_box", "/t/black_box")]);
    }
}
