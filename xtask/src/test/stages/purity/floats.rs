//! That JSON numbers are read back as they were written.
//!
//! It takes a feature of `serde_json`'s. No test in core can miss that feature: what core's tests depend on turns it
//! on too, and then it is on for core.

use std::fs;
use std::path::{Path, PathBuf};

use super::tree::{Tree, tree};
use crate::project::Package;
use crate::test::stage::Stage;

const FEATURE: &str = "float_roundtrip";

pub(super) fn run(stage: &mut Stage<'_>) -> anyhow::Result<()> {
    let project = stage.project;
    let mut faults = Vec::new();
    let asks = |package: &&Package| {
        let mut dependencies = package.dependencies.iter();
        dependencies.any(|dependency| dependency.name == "serde_json" && dependency.kind.is_none())
    };
    for package in project.packages.iter().filter(asks) {
        faults.extend(fault(
            &tree(&project.root, &package.name, "normal", &[])?,
            &package.name,
        ));
    }
    stage.verify(
        "every package that reads JSON reads floats exactly",
        &faults,
    );

    let version = project.locked_version("serde_json")?;
    let canary = write_canary(&project.scratch("float-canary")?, &version)?;
    let seen = fault(
        &tree(&canary, "canary", "normal", &["--offline"])?,
        "canary",
    );
    let canary = match seen {
        Some(_) => Vec::new(),
        None => vec![String::from("a package without the feature is not seen")],
    };
    stage.verify("the same check finds a package that does not", &canary);
    Ok(())
}

fn fault(tree: &Tree, package: &str) -> Option<String> {
    let features = tree.get("serde_json")?;
    (!features.contains(FEATURE))
        .then(|| format!("`{package}` builds `serde_json` without its feature `{FEATURE}`"))
}

/// A package that takes the same `serde_json` as it comes.
fn write_canary(dir: &Path, version: &str) -> anyhow::Result<PathBuf> {
    fs::create_dir_all(dir.join("src"))?;
    fs::write(
        dir.join("Cargo.toml"),
        format!(
            "[package]\nname = \"canary\"\nversion = \"0.0.0\"\nedition = \"2024\"\n\n\
             [dependencies]\nserde_json = \"={version}\"\n\n[workspace]\n"
        ),
    )?;
    fs::write(dir.join("src/lib.rs"), "")?;
    Ok(dir.into())
}
