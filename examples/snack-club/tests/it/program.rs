//! The program's own ways of being started.

use std::process::Command;

use crate::PROGRAM;

#[test]
fn every_step_of_the_tour_holds() {
    let tour = Command::new(PROGRAM).arg("--tour").output().unwrap();
    let shown = String::from_utf8_lossy(&tour.stdout);
    // The kill comes when half of 40 calls have answers, with as many as eight more on their way or unread.
    let answered = shown
        .split_once("40 calls, ")
        .and_then(|(_, rest)| rest.split_once(" of them answered before the kill"))
        .map(|(answered, _)| answered.parse::<usize>().unwrap());
    assert!(
        answered.is_some_and(|answered| (20..40).contains(&answered)),
        "{shown}"
    );
    assert!(
        tour.status.success(),
        "{shown}\n{}",
        String::from_utf8_lossy(&tour.stderr)
    );
    let last = shown.lines().last().unwrap();
    let (held, of) = last
        .strip_suffix(" steps held")
        .unwrap()
        .split_once(" of ")
        .unwrap();
    assert_eq!(held, of);
    assert_eq!(
        held.parse::<usize>().unwrap(),
        shown.matches("\n  ok ").count()
    );
    assert!(!shown.contains("FAIL"), "{shown}");
}

#[test]
fn an_unknown_argument_is_answered_with_the_usage() {
    let program = Command::new(PROGRAM).arg("--help-me").output().unwrap();
    assert_eq!(program.status.code(), Some(2));
    assert!(String::from_utf8_lossy(&program.stderr).contains("--tour"));
}

#[test]
fn help_is_the_usage_and_no_mistake() {
    for argument in ["--help", "-h"] {
        let program = Command::new(PROGRAM).arg(argument).output().unwrap();
        assert!(program.status.success(), "{argument}");
        assert!(String::from_utf8_lossy(&program.stdout).contains("--tour"));
        assert!(program.stderr.is_empty());
    }
}

/// What a line says, without what introduces it.
fn cause(line: &str) -> &str {
    let line = line.trim();
    line.strip_prefix("because: ").unwrap_or(line)
}

#[test]
fn a_server_that_can_not_start_says_why_and_fails() {
    for (variable, value, hint) in [
        ("PUP_LISTEN", "nowhere", "PUP_LISTEN"),
        ("PUP_SIGNING_SECRET", "whsec_short", "PUP_SIGNING_SECRET"),
        ("PUP_PUBLIC_URL", "http://example.com", "PUP_PUBLIC_URL"),
        ("PUP_DATABASE", "/dev/null/no.sqlite", "database"),
        ("PUP_DATABASE", "/", "database"),
    ] {
        let folder = tempfile::tempdir().unwrap();
        let program = Command::new(PROGRAM)
            .current_dir(folder.path())
            .env("PUP_LISTEN", "127.0.0.1:0")
            .env(
                "PUP_SIGNING_SECRET",
                "whsec_MfKQ9r8GKYqrTwjUPD8ILPZIo2LaLaSw",
            )
            .env_remove("PUP_DATABASE")
            .env(variable, value)
            .output()
            .unwrap();
        let said = String::from_utf8_lossy(&program.stderr);
        assert_eq!(program.status.code(), Some(1), "{variable}: {said}");
        assert!(said.contains(hint), "{variable}: {said}");
        assert!(!said.contains("whsec_short"), "{said}");
        // Each cause is said once.
        let causes: Vec<&str> = said.lines().map(cause).collect();
        for (index, text) in causes.iter().enumerate() {
            let earlier = causes.iter().take(index);
            assert!(
                !earlier.into_iter().any(|line| line.contains(text)),
                "{said}"
            );
            assert_eq!(said.matches("unable to open").count().max(1), 1, "{said}");
        }
    }
}
