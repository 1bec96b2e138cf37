//! What this workspace is made of, as cargo tells it.

use std::path::{Path, PathBuf};

use anyhow::{Context, bail};
use serde::Deserialize;

use crate::command::Command;

/// The workspace that this program was built from.
#[derive(Debug, Deserialize)]
pub(crate) struct Project {
    /// The folder of the workspace's `Cargo.toml`.
    #[serde(rename = "workspace_root")]
    pub(crate) root: PathBuf,
    /// Where cargo puts what it builds.
    #[serde(rename = "target_directory")]
    pub(crate) target: PathBuf,
    /// The workspace's members.
    pub(crate) packages: Vec<Package>,
}

/// A member of the workspace.
#[derive(Clone, Debug, Deserialize)]
pub(crate) struct Package {
    pub(crate) id: String,
    pub(crate) name: String,
    pub(crate) manifest_path: PathBuf,
    pub(crate) dependencies: Vec<Dependency>,
}

/// What a member's manifest asks for.
#[derive(Clone, Debug, Deserialize)]
pub(crate) struct Dependency {
    pub(crate) name: String,
    /// `None` for a normal dependency.
    pub(crate) kind: Option<String>,
    /// Where it is, when it is of this repository.
    pub(crate) path: Option<PathBuf>,
}

impl Project {
    /// The package that every rule of the contract is in.
    pub(crate) const CORE: &str = "pup-extension";

    /// Asks cargo.
    ///
    /// # Errors
    ///
    /// When cargo can't read the workspace.
    pub(crate) fn find() -> anyhow::Result<Self> {
        let manifest = Path::new(env!("CARGO_MANIFEST_DIR")).join("../Cargo.toml");
        let metadata = Command::cargo()
            .args([
                "metadata",
                "--format-version",
                "1",
                "--no-deps",
                "--manifest-path",
            ])
            .arg(manifest)
            .read()?;
        serde_json::from_str(&metadata).context("cargo's metadata can't be read")
    }

    /// A folder of our own below cargo's target folder, made if it isn't there.
    ///
    /// # Errors
    ///
    /// When it can't be made.
    pub(crate) fn scratch(&self, name: &str) -> anyhow::Result<PathBuf> {
        let dir = self.target.join("xtask").join(name);
        std::fs::create_dir_all(&dir).with_context(|| format!("can't make {}", dir.display()))?;
        Ok(dir)
    }

    /// The member of this name.
    ///
    /// # Errors
    ///
    /// When there is none.
    pub(crate) fn package(&self, name: &str) -> anyhow::Result<&Package> {
        self.packages
            .iter()
            .find(|package| package.name == name)
            .with_context(|| format!("the workspace has no package `{name}`"))
    }

    /// The version of a crate in `Cargo.lock`.
    ///
    /// # Errors
    ///
    /// When the lock file can't be read, or does not name the crate exactly once.
    pub(crate) fn locked_version(&self, name: &str) -> anyhow::Result<String> {
        let lock = std::fs::read_to_string(self.root.join("Cargo.lock"))
            .context("can't read Cargo.lock")?;
        locked_version(&lock, name)
    }
}

impl Package {
    /// The package's folder.
    pub(crate) fn dir(&self) -> &Path {
        self.manifest_path.parent().unwrap_or(&self.manifest_path)
    }
}

#[derive(Deserialize)]
struct Lock {
    package: Vec<Locked>,
}

#[derive(Deserialize)]
struct Locked {
    name: String,
    version: String,
}

fn locked_version(lock: &str, name: &str) -> anyhow::Result<String> {
    let lock: Lock = toml::from_str(lock).context("Cargo.lock can't be read")?;
    let mut versions = lock
        .package
        .into_iter()
        .filter(|package| package.name == name)
        .map(|p| p.version);
    match (versions.next(), versions.next()) {
        (Some(version), None) => Ok(version),
        (Some(_), Some(_)) => bail!("Cargo.lock has several versions of `{name}`"),
        (None, _) => bail!("Cargo.lock has no `{name}`"),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_one_locked_version_is_found_and_any_other_number_is_refused() {
        let lock = "[[package]]\nname = \"a\"\nversion = \"1.2.3\"\n\
                    [[package]]\nname = \"b\"\nversion = \"1.0.0\"\n\
                    [[package]]\nname = \"b\"\nversion = \"2.0.0\"\n";
        assert_eq!(locked_version(lock, "a").unwrap(), "1.2.3");
        assert!(locked_version(lock, "b").is_err());
        assert!(locked_version(lock, "c").is_err());
    }
}
