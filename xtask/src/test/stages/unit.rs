use crate::command::Command;
use crate::test::stage::Stage;
use crate::tools::Tool;

pub(super) fn run(stage: &mut Stage<'_>) -> anyhow::Result<()> {
    let dynamodb = Tool::Dynoxide.ensure(stage.project)?;
    let tests = workspace(stage).env(Tool::DYNOXIDE_VARIABLE, dynamodb);
    stage.tests("workspace", &tests)?;
    Ok(())
}

/// `cargo test` over everything. One command for all, so that what it builds is built once.
pub(super) fn workspace(stage: &Stage<'_>) -> Command {
    Command::cargo()
        .args(["test", "--workspace", "--all-features", "--no-fail-fast"])
        .dir(&stage.project.root)
}
