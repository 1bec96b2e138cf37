use crate::command::Command;
use crate::test::stage::Stage;

pub(super) fn run(stage: &mut Stage<'_>) -> anyhow::Result<()> {
    let format = Command::cargo()
        .args(["fmt", "--all", "--check"])
        .dir(&stage.project.root);
    stage.check("cargo fmt", &format)?;
    Ok(())
}
