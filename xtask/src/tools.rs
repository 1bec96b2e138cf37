//! The tools that the tests use beside cargo, each at one version.

use std::env;
use std::fs;
use std::path::{Path, PathBuf};

use anyhow::{Context, bail};

use crate::command::Command;
use crate::project::Project;

/// Names the folder that tools are kept in, for where they should outlive a clone. By default `target/tools`.
const FOLDER_VARIABLE: &str = "PUP_TOOLS";

/// A program that `cargo install` brings.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(crate) enum Tool {
    /// Checks licences, sources and advisories of all dependencies.
    CargoDeny,
    /// Stands in for DynamoDB. A program of its own, since its SQLite is not the one of the local store.
    Dynoxide,
    /// Runs tests on wasm under Node. Its version is that of `wasm-bindgen` in `Cargo.lock`: they must be equal.
    WasmBindgen,
}

impl Tool {
    pub(crate) const ALL: [Self; 3] = [Self::WasmBindgen, Self::CargoDeny, Self::Dynoxide];

    /// The variable by which tests are told where the tool is.
    pub(crate) const DYNOXIDE_VARIABLE: &str = "PUP_DYNOXIDE";

    fn package(self) -> &'static str {
        match self {
            Self::CargoDeny => "cargo-deny",
            Self::Dynoxide => "dynoxide-rs",
            Self::WasmBindgen => "wasm-bindgen-cli",
        }
    }

    fn binary(self) -> &'static str {
        match self {
            Self::CargoDeny => "cargo-deny",
            Self::Dynoxide => "dynoxide",
            Self::WasmBindgen => "wasm-bindgen-test-runner",
        }
    }

    /// What of it is installed.
    fn features(self) -> &'static [&'static str] {
        match self {
            Self::CargoDeny | Self::WasmBindgen => &[],
            Self::Dynoxide => &[
                "--no-default-features",
                "--features",
                "native-sqlite,http-server,cli",
            ],
        }
    }

    fn version(self, project: &Project) -> anyhow::Result<String> {
        match self {
            Self::CargoDeny => Ok(String::from("0.20.2")),
            Self::Dynoxide => Ok(String::from("3.2.0")),
            Self::WasmBindgen => project.locked_version("wasm-bindgen"),
        }
    }

    /// The tool's program, installed if it isn't there.
    ///
    /// # Errors
    ///
    /// When it can't be installed.
    pub(crate) fn ensure(self, project: &Project) -> anyhow::Result<PathBuf> {
        let version = self.version(project)?;
        let root = folder(project).join(format!("{}-{version}", self.package()));
        let name = format!("{}{}", self.binary(), env::consts::EXE_SUFFIX);
        let installed = root.join("bin").join(&name);
        if !installed.is_file() {
            self.install(&version, &root)?;
        }
        if !installed.is_file() {
            bail!(
                "{} {version} was installed but brought no `{name}`",
                self.package()
            );
        }
        Ok(installed)
    }

    fn install(self, version: &str, root: &Path) -> anyhow::Result<()> {
        let package = self.package();
        eprintln!("installing {package} {version}, once (some minutes)");
        // A tool is run for seconds: building it fast is worth more than what a release build would save.
        let install = Command::cargo()
            .args([
                "install",
                package,
                "--quiet",
                "--version",
                version,
                "--root",
            ])
            .arg(root)
            .args(self.features())
            .env("CARGO_TARGET_DIR", root.join("build"))
            .env("CARGO_PROFILE_RELEASE_LTO", "off")
            .env("CARGO_PROFILE_RELEASE_CODEGEN_UNITS", "16")
            .env("CARGO_PROFILE_RELEASE_OPT_LEVEL", "1");
        // A registry that lags behind may lack a version that the tool's own lock file names.
        let outcome = install.clone().arg("--locked").run().or_else(|error| {
            eprintln!("{error:#}; trying with the newest dependencies that fit");
            install.run()
        });
        fs::remove_dir_all(root.join("build")).or_else(|error| match error.kind() {
            std::io::ErrorKind::NotFound => Ok(()),
            _ => Err(error),
        })?;
        outcome.with_context(|| format!("{package} {version} can't be installed"))
    }
}

fn folder(project: &Project) -> PathBuf {
    env::var_os(FOLDER_VARIABLE)
        .map(PathBuf::from)
        .filter(|path| path.is_absolute())
        .unwrap_or_else(|| project.target.join("tools"))
}
