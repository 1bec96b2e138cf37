//! The wasm target from Debian's packages alone, for machines that reach no server of rustup's.
//!
//! Debian has a compiler, and the source of its standard library, but no build of that library for
//! `wasm32-unknown-unknown`. So it is built here with that compiler, and put where the compiler looks for it.

use std::fs;
use std::os::unix::fs::symlink;
use std::path::Path;

use anyhow::{Context, bail, ensure};

use super::TARGET;
use crate::command::Command;
use crate::project::Project;

/// The name that rustup knows the toolchain by.
pub(super) const NAME: &str = "debian";

const PACKAGES: [&str; 4] = ["rustc-web", "cargo-web", "rust-web-src", "lld-19"];
const LINKER: &str = "/usr/bin/lld-19";
/// Below it are the libraries of each target, and the sources.
const SYSROOT: &str = "/usr/lib/rustlib";

/// Installs the packages, builds the library, and links the toolchain. It takes about two minutes.
///
/// # Errors
///
/// When this is not Debian, we are not root, or a step fails.
pub(super) fn install(project: &Project) -> anyhow::Result<()> {
    ensure!(
        Path::new("/etc/debian_version").is_file(),
        "this is not Debian"
    );
    let user = Command::new("id").arg("-u").read()?;
    ensure!(
        user.trim() == "0",
        "only root can install Debian's packages"
    );

    let sources = Path::new(SYSROOT).join("src/rust/library");
    if !(sources.is_dir() && Path::new("/usr/bin/cargo").is_file() && Path::new(LINKER).is_file()) {
        eprintln!("installing {}", PACKAGES.join(", "));
        let apt = Command::new("apt-get").env("DEBIAN_FRONTEND", "noninteractive");
        apt.clone().args(["update", "-qq"]).run()?;
        apt.args(["install", "-qq", "-y", "--no-install-recommends"])
            .args(PACKAGES)
            .run()?;
    }
    eprintln!("building the standard library for {TARGET}, once");
    let built = build(&project.scratch("wasm-std")?)?;
    put(&built, Path::new(SYSROOT))?;
    Command::new("rustup")
        .args(["toolchain", "link", NAME, "/usr"])
        .run()
}

/// Builds the library by building an empty crate, and returns the folder that it is in.
fn build(dir: &Path) -> anyhow::Result<std::path::PathBuf> {
    fs::create_dir_all(dir.join("src"))?;
    fs::write(dir.join("src/lib.rs"), "#![no_std]\n")?;
    fs::write(
        dir.join("Cargo.toml"),
        "[package]\nname = \"empty\"\nversion = \"0.0.0\"\nedition = \"2024\"\n\n\
         [profile.release]\npanic = \"abort\"\n\n[workspace]\n",
    )?;
    let target = dir.join("target");
    Command::new("/usr/bin/cargo")
        .args(["build", "--quiet", "--release", "--target", TARGET])
        .arg("-Zbuild-std=std,panic_abort,panic_unwind,test")
        // Building the library is an option of unstable compilers, which this makes of a stable one.
        .env("RUSTC_BOOTSTRAP", "1")
        .env("RUSTC", "/usr/bin/rustc")
        // Not rustup's programs of the same names.
        .env("PATH", "/usr/bin:/bin")
        // So that what uses the library can still be optimised across crates.
        .env("RUSTFLAGS", "-Cembed-bitcode=yes")
        .env("CARGO_TARGET_DIR", &target)
        .dir(dir)
        .run()?;
    Ok(target.join(TARGET).join("release/deps"))
}

/// Puts the library where the compiler looks for it, and the linker where it looks for that.
fn put(built: &Path, sysroot: &Path) -> anyhow::Result<()> {
    let lib = sysroot.join(TARGET).join("lib");
    // Of two builds of one library, the compiler would not know which to take.
    if lib.is_dir() {
        fs::remove_dir_all(&lib).with_context(|| format!("can't replace {}", lib.display()))?;
    }
    fs::create_dir_all(&lib).with_context(|| format!("can't make {}", lib.display()))?;
    let mut any = false;
    for file in fs::read_dir(built)? {
        let path = file?.path();
        let name = path.file_name().unwrap_or_default().to_string_lossy();
        if name.ends_with(".rlib") && !name.starts_with("libempty-") {
            fs::copy(&path, lib.join(&*name))?;
            any = true;
        }
    }
    if !any {
        bail!("no library was built in {}", built.display());
    }
    let host = std::env::consts::ARCH;
    let bin = sysroot.join(format!("{host}-unknown-linux-gnu/bin"));
    fs::create_dir_all(&bin)?;
    let linker = bin.join("rust-lld");
    if fs::symlink_metadata(&linker).is_err() {
        symlink(LINKER, &linker).with_context(|| format!("can't link {}", linker.display()))?;
    }
    Ok(())
}
