use crate::command::Command;
use crate::test::stage::Stage;

pub(super) fn run(stage: &mut Stage<'_>) -> anyhow::Result<()> {
    let clippy = Command::cargo()
        .args(["clippy", "--workspace", "--all-targets", "--all-features"])
        .args(["--", "-D", "warnings"])
        .dir(&stage.project.root);
    stage.check("cargo clippy", &clippy)?;
    Ok(())
}
