//! The command `pup-ext` against a server of the example: two programs, as their users have them.
#![expect(
    clippy::unwrap_used,
    reason = "the helpers of tests; clippy exempts test functions alone"
)]

use std::{
    env::consts::EXE_SUFFIX,
    io::Write as _,
    path::{Path, PathBuf},
    process::{Command, Stdio},
    sync::OnceLock,
};

use pup_extension_cli::Secret;
use serde_json::{Value, json};
use tempfile::TempDir;

use crate::{PROGRAM, logged::Logged};

/// The command, beside the program under test. It is another package's, and that one's tests are not always built
/// together with these.
fn pup_ext() -> &'static Path {
    static BUILT: OnceLock<PathBuf> = OnceLock::new();
    BUILT.get_or_init(|| {
        let folder = Path::new(PROGRAM).parent().unwrap();
        let profile = match folder.file_name().unwrap().to_str().unwrap() {
            "debug" => "dev",
            other => other,
        };
        let mut build = Command::new(env!("CARGO"));
        // What says which package is under test would have the build scripts of others run again.
        for (name, _) in std::env::vars_os() {
            let of_a_package = ["CARGO_PKG_", "CARGO_MANIFEST_", "CARGO_BIN_"];
            if of_a_package
                .iter()
                .any(|start| name.to_str().is_some_and(|name| name.starts_with(start)))
            {
                build.env_remove(name);
            }
        }
        let built = build
            .current_dir(env!("CARGO_MANIFEST_DIR"))
            .args(["build", "--quiet", "--package", "pup-extension-cli"])
            .args(["--bin", "pup-ext", "--profile", profile, "--target-dir"])
            .arg(folder.parent().unwrap())
            .status()
            .unwrap();
        assert!(built.success(), "pup-ext can't be built");
        folder.join(format!("pup-ext{EXE_SUFFIX}"))
    })
}

/// A server of the example.
struct Club {
    server: Logged,
    secret: Secret,
    _folder: TempDir,
}

/// What the command printed, and its status.
struct Run {
    status: i32,
    out: String,
    err: String,
}

impl Club {
    fn open() -> Self {
        let folder = tempfile::tempdir().unwrap();
        let secret = Secret::from_bytes(&[7; 32]).unwrap();
        Self {
            server: Logged::start(folder.path(), &secret, "warn"),
            secret,
            _folder: folder,
        }
    }

    fn run(&self, args: &[&str]) -> Run {
        self.typing(args, "")
    }

    /// Runs the command with lines to read.
    fn typing(&self, args: &[&str], lines: &str) -> Run {
        let mut child = Command::new(pup_ext())
            .args(args)
            .env("PUP_URL", &self.server.url)
            .env("PUP_SIGNING_SECRET", &*self.secret.reveal())
            .stdin(Stdio::piped())
            .stdout(Stdio::piped())
            .stderr(Stdio::piped())
            .spawn()
            .unwrap();
        // It may end without reading them.
        let mut stdin = child.stdin.take().unwrap();
        stdin.write_all(lines.as_bytes()).ok();
        drop(stdin);
        let output = child.wait_with_output().unwrap();
        Run {
            status: output.status.code().unwrap(),
            out: String::from_utf8(output.stdout).unwrap(),
            err: String::from_utf8(output.stderr).unwrap(),
        }
    }

    /// Calls a task tool; the task's id.
    fn begin(&self, tool: &str, arguments: &str) -> String {
        let run = self.run(&["call", tool, arguments, "--json"]);
        let document = run.shows(0, &[]).json();
        document["result"]["taskId"].as_str().unwrap().to_owned()
    }
}

impl Run {
    /// That it ended so, and printed these to either stream.
    fn shows(&self, status: i32, parts: &[&str]) -> &Self {
        let shown = format!("{}\n{}", self.out, self.err);
        assert_eq!(self.status, status, "{shown}");
        for part in parts {
            assert!(shown.contains(part), "{part}: {shown}");
        }
        self
    }

    fn json(&self) -> Value {
        serde_json::from_str(&self.out).unwrap()
    }
}

#[test]
fn a_call_is_followed_until_its_task_completes() {
    let club = Club::open();
    let run = club.run(&["call", "bake_snacks", r#"{"batches": 5}"#, "--watch"]);
    run.shows(
        0,
        &[
            "goes on as a task: ",
            "completed: batch 5 of 5\n",
            "\"batches\": 5",
        ],
    );
    let run = club.run(&["call", "snack_menu"]);
    run.shows(0, &["\"stock\": 5"]);
    // Machines get the changes in one document.
    let args = ["call", "bake_snacks", r#"{"batches": 1}"#];
    let document = club
        .run(&[&args[..], &["--watch", "--json"]].concat())
        .shows(0, &[])
        .json();
    let last = document["changes"].as_array().unwrap().last().unwrap();
    assert_eq!(
        *last,
        json!({ "status": "completed", "statusMessage": "batch 1 of 1" })
    );
    let result = &document["result"]["result"];
    assert_eq!(result["structuredContent"], json!({ "batches": 1 }));
}

#[test]
fn what_a_task_asks_is_asked_at_the_terminal() {
    let club = Club::open();
    let watch = ["call", "choose_snack", "--watch", "--input"];
    let run = club.typing(&watch, "sour\nsweet\n");
    run.shows(
        0,
        &[
            "Sweet or salty? (ask-0)",
            "1  sweet",
            "2  salty",
            "completed\n",
            "\"snack\": \"fruit\"",
        ],
    );
    // What is none of the choices is asked again.
    assert_eq!(run.err.matches("  taste (").count(), 2, "{}", run.err);

    let id = club.begin("choose_snack", "{}");
    let run = club.typing(&["task", "watch", &id, "--input"], "2\n");
    run.shows(0, &["\"snack\": \"popcorn\""]);

    let id = club.begin("choose_snack", "{}");
    let run = club.typing(&["task", "watch", &id, "--input"], "!decline\n");
    run.shows(1, &["completed\n", "the question was declined"]);
}

#[test]
fn a_task_waits_for_its_answer_and_refuses_a_wrong_one() {
    let club = Club::open();
    let id = club.begin("choose_snack", "{}");
    let hint = format!(r#"pup-ext task answer {id} ask-0 '{{"taste":"sweet"}}'"#);
    let question = ["ask-0  Sweet or salty?", "taste (sweet | salty)", &hint];
    club.run(&["task", "get", &id])
        .shows(0, &["input_required\n", "kept for 86400 s"])
        .shows(0, &question);
    club.run(&["task", "watch", &id])
        .shows(4, &question)
        .shows(4, &["the task waits for input"]);

    let run = club.run(&["task", "answer", &id, "ask-0", r#"{"taste":"sour"}"#]);
    let refusal = r#"the extension refused: params.inputResponses["ask-0"] doesn't fit its form: answer.taste: must be one of "sweet", "salty" (code -32602, HTTP 400 Bad Request)"#;
    run.shows(1, &[refusal]);
    let run = club.run(&["task", "answer", &id, "ask-0", r#"{"taste":"salty"}"#]);
    run.shows(0, &["acknowledged: ask-0"]);
    let run = club.run(&["task", "watch", &id]);
    run.shows(0, &["completed\n", "\"snack\": \"popcorn\""]);
    let run = club.run(&["task", "get", &id]);
    run.shows(0, &["completed\n", "\"snack\": \"popcorn\""]);
}

#[test]
fn a_task_is_its_askers_alone_and_can_be_cancelled() {
    let club = Club::open();
    let id = club.begin("bake_snacks", r#"{"batches": 10}"#);
    for command in ["get", "cancel", "watch"] {
        let run = club.run(&["task", command, &id, "--asker", "somebody-else"]);
        run.shows(
            1,
            &[
                "the extension refused: ",
                "code -32602",
                "(--asker, --installation)",
            ],
        );
    }
    let run = club.run(&["task", "cancel", &id]);
    run.shows(0, &["acknowledged: "]);
    let run = club.run(&["task", "watch", &id]);
    run.shows(1, &["cancelled\n", "the task was cancelled"]);
}
