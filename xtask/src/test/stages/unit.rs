use crate::command::Command;
use crate::test::stage::Stage;

pub(super) fn run(stage: &mut Stage<'_>) -> anyhow::Result<()> {
    stage.tests("workspace", &workspace(stage))?;
    Ok(())
}

/// `cargo test` over everything. One command for all, so that what it builds is built once.
pub(super) fn workspace(stage: &Stage<'_>) -> Command {
    Command::cargo()
        .args(["test", "--workspace", "--all-features", "--no-fail-fast"])
        .dir(&stage.project.root)
}
