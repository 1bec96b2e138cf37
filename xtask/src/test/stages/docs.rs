use crate::command::Command;
use crate::test::links;
use crate::test::stage::Stage;

pub(super) fn run(stage: &mut Stage<'_>) -> anyhow::Result<()> {
    let root = stage.project.root.clone();
    let doc = Command::cargo()
        .args(["doc", "--workspace", "--no-deps", "--all-features"])
        .env("RUSTDOCFLAGS", "-D warnings")
        .dir(&root);
    // Private items first, so that the published pages are what is left in the folder.
    stage.check(
        "cargo doc, private items too",
        &doc.clone().arg("--document-private-items"),
    )?;
    stage.check("cargo doc", &doc)?;

    let tracked = Command::new("git")
        .args([
            "ls-files",
            "--cached",
            "--others",
            "--exclude-standard",
            "-z",
            "--",
            "*.md",
        ])
        .dir(&root)
        .read()?;
    let files: Vec<_> = tracked
        .split('\0')
        .filter(|name| !name.is_empty())
        .map(|name| root.join(name))
        .collect();
    anyhow::ensure!(
        !files.is_empty(),
        "git lists no pages whose links could be checked"
    );
    let dead = links::dead(&root, &files)?;
    stage.verify(&format!("links of {} pages", files.len()), &dead);
    Ok(())
}
