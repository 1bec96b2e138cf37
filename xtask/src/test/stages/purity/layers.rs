//! Dependencies between the workspace's members point one way.

use std::collections::{BTreeMap, BTreeSet};
use std::path::{Path, PathBuf};

use crate::project::{Dependency, Package, Project};
use crate::test::stage::Stage;

/// What core's own tests may take from this repository.
const CORES_DEV_DEPENDENCY: &str = "pup-extension-wasm-test";

pub(super) fn run(stage: &mut Stage<'_>) {
    let faults = faults(&stage.project.root, &stage.project.packages);
    stage.verify(
        "core depends on no member, an adapter on no other adapter",
        &faults,
    );
}

fn faults(root: &Path, packages: &[Package]) -> Vec<String> {
    let by_dir: BTreeMap<_, _> = packages
        .iter()
        .map(|package| (package.dir(), package))
        .collect();
    let adapters = root.join("adapters");
    let mut faults = Vec::new();
    for package in packages {
        let members = package
            .dependencies
            .iter()
            .filter(|dependency| dependency.path.is_some());
        if package.name == Project::CORE {
            faults.extend(
                members
                    .filter(|dependency| {
                        !(is_dev(dependency) && dependency.name == CORES_DEV_DEPENDENCY)
                    })
                    .map(|dependency| format!("core depends on `{}`", dependency.name)),
            );
        } else if package.dir().starts_with(&adapters) {
            let mut seen: BTreeSet<PathBuf> = members
                .filter_map(|dependency| dependency.path.clone())
                .collect();
            let mut open: Vec<_> = seen.iter().cloned().collect();
            while let Some(dir) = open.pop() {
                let dependencies = by_dir
                    .get(dir.as_path())
                    .into_iter()
                    .flat_map(|package| &package.dependencies);
                for path in dependencies
                    .filter(|d| !is_dev(d))
                    .filter_map(|d| d.path.clone())
                {
                    if seen.insert(path.clone()) {
                        open.push(path);
                    }
                }
            }
            faults.extend(
                seen.iter()
                    .filter(|dir| dir.starts_with(&adapters) && *dir != package.dir())
                    .map(|dir| {
                        format!(
                            "the adapter `{}` depends on the one in {}",
                            package.name,
                            dir.display()
                        )
                    }),
            );
        }
    }
    faults
}

fn is_dev(dependency: &Dependency) -> bool {
    dependency.kind.as_deref() == Some("dev")
}

#[cfg(test)]
mod tests {
    use super::*;

    fn package(name: &str, dir: &str, dependencies: &[(&str, Option<&str>, &str)]) -> Package {
        Package {
            id: String::from(name),
            name: String::from(name),
            manifest_path: Path::new("/p").join(dir).join("Cargo.toml"),
            dependencies: dependencies
                .iter()
                .map(|(name, kind, dir)| Dependency {
                    name: String::from(*name),
                    kind: kind.map(String::from),
                    path: Some(Path::new("/p").join(dir)),
                })
                .collect(),
        }
    }

    fn check(packages: &[Package]) -> Vec<String> {
        faults(Path::new("/p"), packages)
    }

    #[test]
    fn core_may_use_the_wasm_tests_in_its_own_and_nothing_else() {
        let dev = package(
            Project::CORE,
            "core",
            &[(CORES_DEV_DEPENDENCY, Some("dev"), "core/wasm-test")],
        );
        assert_eq!(check(&[dev]), [""; 0]);
        let normal = package(
            Project::CORE,
            "core",
            &[(CORES_DEV_DEPENDENCY, None, "core/wasm-test")],
        );
        assert_eq!(check(&[normal]).len(), 1);
        let other = package(
            Project::CORE,
            "core",
            &[("snack-club", Some("dev"), "examples/snack-club")],
        );
        assert_eq!(check(&[other]).len(), 1);
    }

    #[test]
    fn an_adapter_reaches_no_other_neither_straight_nor_round_a_corner() {
        let local = package("local", "adapters/local", &[("core", None, "core")]);
        let straight = package(
            "lambda",
            "adapters/lambda",
            &[("local", Some("dev"), "adapters/local")],
        );
        assert_eq!(check(&[local.clone(), straight]).len(), 1);
        let tool = package("tool", "cli", &[("local", None, "adapters/local")]);
        let corner = package("lambda", "adapters/lambda", &[("tool", None, "cli")]);
        assert_eq!(check(&[local.clone(), tool, corner]).len(), 1);
        let example = package(
            "example",
            "examples/example",
            &[("local", None, "adapters/local")],
        );
        assert_eq!(check(&[local, example]), [""; 0]);
    }
}
