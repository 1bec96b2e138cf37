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
    } else if is_unreachable(&fetched.output) {
        stage.not_checked("advisories", "the database is unreachable");
    } else {
        let shown = fetched.output.lines().map(String::from).collect::<Vec<_>>();
        stage.verify("the advisory database can be fetched", &shown);
    }
    Ok(())
}

/// Whether the database is out of reach of this machine. Anything else that goes wrong with it is a failure.
fn is_unreachable(output: &str) -> bool {
    let signs = [
        "Could not resolve host",
        "Could not resolve proxy",
        "Couldn't connect to server",
        "Failed to connect to",
        "Connection refused",
        "Connection reset",
        "Connection timed out",
        "Network is unreachable",
        "Proxy CONNECT aborted",
        "CONNECT tunnel failed",
        "ended after",
    ];
    signs.iter().any(|sign| output.contains(sign))
}

#[cfg(test)]
mod tests {
    use super::is_unreachable;

    #[test]
    fn only_a_network_that_is_not_there_is_an_excuse() {
        assert!(is_unreachable(
            "fatal: unable to access 'https://example.com/db/': Could not resolve host: example.com"
        ));
        assert!(!is_unreachable("failed to parse deny.toml: unknown field"));
        assert!(!is_unreachable("fatal: repository not found"));
    }
}
