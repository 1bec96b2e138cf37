//! A cargo that builds for `wasm32-unknown-unknown`.

#[cfg(target_os = "linux")]
mod debian;

use std::env;
use std::fs;
use std::path::{Path, PathBuf};

use anyhow::{Context, bail, ensure};

#[cfg(target_os = "linux")]
use self::debian::{NAME as DEBIAN, install as install_debian};
use crate::command::Command;
use crate::project::Project;

/// The target of Workers.
pub(crate) const TARGET: &str = "wasm32-unknown-unknown";

/// Names a rustup toolchain that has the target, to use instead of finding one.
const TOOLCHAIN_VARIABLE: &str = "PUP_WASM_TOOLCHAIN";

#[cfg(not(target_os = "linux"))]
const DEBIAN: &str = "debian";

#[cfg(not(target_os = "linux"))]
fn install_debian(_: &Project) -> anyhow::Result<()> {
    bail!("this is not Debian")
}

/// A toolchain that has the target, with a target folder of its own: two compilers must not share one.
#[derive(Debug)]
pub(crate) struct WasmToolchain {
    /// `None` for the one in use.
    name: Option<String>,
    target_dir: PathBuf,
}

impl WasmToolchain {
    /// The toolchain that `PUP_WASM_TOOLCHAIN` names, or else the one in use, to which rustup adds the target if need
    /// be; or, where rustup can't, one made of Debian's packages.
    ///
    /// # Errors
    ///
    /// When none of them has the target, or can be given it.
    pub(crate) fn find(project: &Project) -> anyhow::Result<Self> {
        let toolchain = |name: Option<&str>| Self {
            name: name.map(String::from),
            target_dir: project.target.join("wasm").join(name.unwrap_or("in-use")),
        };
        if let Some(name) = env::var(TOOLCHAIN_VARIABLE)
            .ok()
            .filter(|name| !name.is_empty())
        {
            let named = toolchain(Some(&name));
            ensure!(
                named.has_target(),
                "the toolchain `{name}` that {TOOLCHAIN_VARIABLE} names does not have {TARGET}"
            );
            return Ok(named);
        }
        let in_use = toolchain(None);
        if in_use.has_target() {
            return Ok(in_use);
        }
        let debian = toolchain(Some(DEBIAN));
        if debian.has_target() {
            return Ok(debian);
        }
        eprintln!("adding the target {TARGET} to the toolchain in use");
        let added = Command::new("rustup").args(["target", "add", TARGET]).run();
        if in_use.has_target() {
            return Ok(in_use);
        }
        install_debian(project).with_context(|| match added {
            Ok(()) => format!("rustup added {TARGET}, but not to the compiler that cargo uses"),
            Err(error) => format!("rustup can't add {TARGET} ({error:#}), nor can it be built"),
        })?;
        ensure!(
            debian.has_target(),
            "the toolchain `{DEBIAN}` was made, but does not have {TARGET}"
        );
        Ok(debian)
    }

    /// Cargo of this toolchain. `--target` is the caller's to say.
    pub(crate) fn cargo(&self) -> Command {
        self.with_toolchain(Command::cargo())
            .env("CARGO_TARGET_DIR", &self.target_dir)
    }

    /// Whether the target's libraries are there, that of tests among them, which one may have left out.
    fn has_target(&self) -> bool {
        self.with_toolchain(Command::new("rustc"))
            .args(["--print", "target-libdir", "--target", TARGET])
            .read()
            .is_ok_and(|dir| has_test_library(Path::new(dir.trim())))
    }

    fn with_toolchain(&self, command: Command) -> Command {
        match &self.name {
            Some(name) => command.env("RUSTUP_TOOLCHAIN", name),
            None => command,
        }
    }
}

fn has_test_library(dir: &Path) -> bool {
    fs::read_dir(dir).is_ok_and(|files| {
        files.flatten().any(|file| {
            let name = file.file_name();
            let name = name.to_string_lossy();
            name.starts_with("libtest-") && name.ends_with(".rlib")
        })
    })
}

/// Checks that Node is there, and new enough to run the tests.
///
/// # Errors
///
/// When it isn't.
pub(crate) fn require_node() -> anyhow::Result<()> {
    const OLDEST: u32 = 20;
    let version = Command::new("node")
        .arg("--version")
        .read()
        .with_context(|| format!("tests on wasm run under Node {OLDEST} or newer"))?;
    match node_major(&version) {
        Some(major) if major >= OLDEST => Ok(()),
        _ => bail!(
            "tests on wasm run under Node {OLDEST} or newer; `node --version` says {:?}",
            version.trim()
        ),
    }
}

fn node_major(version: &str) -> Option<u32> {
    version
        .trim()
        .strip_prefix('v')?
        .split('.')
        .next()?
        .parse()
        .ok()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_target_without_the_library_of_tests_is_not_there() {
        let dir = tempfile::tempdir().unwrap();
        assert!(!has_test_library(&dir.path().join("gone")));
        fs::write(dir.path().join("libstd-1.rlib"), "").unwrap();
        assert!(!has_test_library(dir.path()));
        fs::write(dir.path().join("libtest-1.rlib"), "").unwrap();
        assert!(has_test_library(dir.path()));
    }

    #[test]
    fn nodes_major_version_is_read() {
        assert_eq!(node_major("v20.20.2\n"), Some(20));
        assert_eq!(node_major("20.20.2"), None);
        assert_eq!(node_major(""), None);
    }
}
