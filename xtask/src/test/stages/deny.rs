//! `cargo deny`, by the rules in `deny.toml`.

use std::time::Duration;

use crate::command::Command;
use crate::test::stage::Stage;
use crate::tools::Tool;

/// How long fetching the advisory database may take.
const FETCH_LIMIT: Duration = Duration::from_secs(120);

pub(super) fn run(stage: &mut Stage<'_>) -> anyhow::Result<()> {
    let deny = Command::new(Tool::CargoDeny.ensure(stage.project)?).dir(&stage.project.root);
    for what in ["licenses", "bans", "sources"] {
        stage.check(what, &deny.clone().args(["check", what]))?;
    }
    // The database is fetched apart from its use, so that "unreachable" and "an advisory applies" can't be mixed up.
    let fetched = deny
        .clone()
        .args(["fetch", "db"])
        .limit(FETCH_LIMIT)
        .log_to(stage.log())?;
    if fetched.success {
        stage.check(
            "advisories",
            &deny.args(["check", "--disable-fetch", "advisories"]),
        )?;
    } else {
        stage.not_checked("advisories", "the database is unreachable");
    }
    Ok(())
}
