//! The `pup-ext` command: what it sends, prints and returns.

use std::{
    io::Write as _,
    process::{Command, Stdio},
    time::Duration,
};

use serde_json::{Value, json};

use crate::server::{Received, SECRET, Script, Server, task};

pub(crate) struct Run {
    pub(crate) status: i32,
    pub(crate) out: String,
    pub(crate) err: String,
}

impl Run {
    pub(crate) fn json(&self) -> Value {
        assert_eq!(self.err, "", "machines read standard output alone");
        assert_eq!(
            self.out.lines().count(),
            1,
            "one document, on one line: {}",
            self.out
        );
        serde_json::from_str(&self.out).unwrap()
    }

    pub(crate) fn assert_status(&self, status: i32) -> &Self {
        assert_eq!(self.status, status, "out: {}\nerr: {}", self.out, self.err);
        assert!(!self.out.contains(SECRET) && !self.err.contains(SECRET));
        self
    }
}

/// Runs the command with nothing in its environment but the secret.
pub(crate) fn pup_ext(args: &[&str]) -> Run {
    run(args, &[("PUP_SIGNING_SECRET", SECRET)], "")
}

pub(crate) fn run(args: &[&str], environment: &[(&str, &str)], input: &str) -> Run {
    let mut child = Command::new(env!("CARGO_BIN_EXE_pup-ext"))
        .args(args)
        .env_clear()
        .envs(environment.iter().copied())
        .stdin(Stdio::piped())
        .stdout(Stdio::piped())
        .stderr(Stdio::piped())
        .spawn()
        .unwrap();
    // The command need not read its input, and then may be gone already.
    child.stdin.take().unwrap().write_all(input.as_bytes()).ok();
    let output = child.wait_with_output().unwrap();
    Run {
        status: output.status.code().unwrap(),
        out: String::from_utf8(output.stdout).unwrap(),
        err: String::from_utf8(output.stderr).unwrap(),
    }
}

pub(crate) fn with(server: &Server, args: &[&str]) -> Run {
    pup_ext(&[&["--url", &server.url], args].concat())
}

pub(crate) fn complete(structured: &Value) -> Value {
    json!({
        "resultType": "complete",
        "content": [{"type": "text", "text": structured.to_string()}],
        "structuredContent": structured,
    })
}

#[test]
fn a_secret_is_new_each_time_and_fit_for_signing() {
    let (one, two) = (pup_ext(&["secret"]), pup_ext(&["secret", "--json"]));
    let one = one.assert_status(0).out.trim();
    let two = two.json()["result"]["secret"].as_str().unwrap().to_owned();
    assert_ne!(one, two);
    for secret in [one, &two] {
        assert!(secret.starts_with("whsec_"), "{secret}");
        assert!(secret.parse::<pup_extension_cli::Secret>().is_ok());
    }
}

#[test]
fn a_manifest_is_shown_without_a_secret() {
    let manifest = json!({
        "id": "snack_club", "name": "Snack Club", "author": "An author",
        "description": "Choose a snack.", "summary": "Snacks.", "instructions": "Use it.",
        "endpoints": {"mcp": "https://x.example/mcp"},
        "tools": [{"name": "snack_menu", "readOnly": true}, {"name": "forget_snack", "alwaysAsk": true}],
        "commands": [{"name": "snacks", "description": "See snacks", "tool": "snack_menu"}],
        "settings": [{"key": "greeting", "type": "text", "label": "Greeting"}],
        "events": ["member.joined"],
    });
    let body = manifest.clone();
    let server = Server::start(move |_| Script::json(200, &body));
    let text = run(&["manifest", "--url", &server.url], &[], "");
    for part in [
        "Snack Club (snack_club), by An author",
        "snack_menu  read only",
        "forget_snack  write, always asks",
        "/snacks  See snacks (calls snack_menu)",
        "greeting  Greeting",
        "mcp  https://x.example/mcp",
        "member.joined",
    ] {
        assert!(
            text.assert_status(0).out.contains(part),
            "{part}: {}",
            text.out
        );
    }
    let machine = run(&["manifest", "--json"], &[("PUP_URL", &server.url)], "");
    assert_eq!(
        machine.json(),
        json!({"ok": true, "status": 200, "result": manifest})
    );
}

#[test]
fn a_challenge_must_come_back() {
    let server = Server::start(|request| Script::json(200, &request.json()));
    let run = with(&server, &["challenge", "hello"]);
    assert!(
        run.assert_status(0)
            .out
            .contains("the challenge came back: hello")
    );
    server.request().assert_signed();
    let random = with(&server, &["challenge", "--json"]).json();
    assert_eq!(random["result"]["challenge"].as_str().unwrap().len(), 32);

    let server = Server::start(|_| Script::json(200, &json!({"challenge": "other"})));
    let run = with(&server, &["challenge", "hello", "--json"]);
    assert_eq!(run.assert_status(1).json()["error"]["kind"], "invalid");
}

#[test]
fn discovery_says_who_answers_and_what_it_can_do() {
    let server = Server::with_result(json!({
        "resultType": "complete",
        "supportedVersions": ["2026-07-28"],
        "capabilities": {"tools": {}, "extensions": {"io.modelcontextprotocol/tasks": {}}},
        "instructions": "Use save_snack.",
        "_meta": {"io.modelcontextprotocol/serverInfo": {"name": "snack_club", "version": "1.2.3"}},
    }));
    let run = with(
        &server,
        &[
            "discover",
            "--installation",
            "guild_1",
            "--asker",
            "member_7",
        ],
    );
    for part in [
        "snack_club 1.2.3",
        "Use save_snack.",
        "versions  2026-07-28",
        "tools",
        "io.modelcontextprotocol/tasks",
    ] {
        assert!(
            run.assert_status(0).out.contains(part),
            "{part}: {}",
            run.out
        );
    }
    let context = json!({"installationId": "guild_1", "askerId": "member_7", "settings": {}});
    assert_eq!(server.request().context(), context);
}

#[test]
fn tools_are_listed_with_their_arguments_over_all_pages() {
    let server = Server::start(|request| {
        let save = json!({"name": "save_snack", "title": "Save it", "description": "Saves.\nTruly.", "inputSchema": {
            "type": "object",
            "properties": {"snack": {"type": "string", "enum": ["fruit", "popcorn"], "description": "Which"}, "n": {"type": "integer"}},
            "required": ["snack"],
        }});
        let menu = json!({"name": "snack_menu", "inputSchema": {"type": "object"}});
        let result = match request.json()["params"]["cursor"].as_str() {
            None => json!({"tools": [save], "nextCursor": "2"}),
            Some(_) => json!({"tools": [menu]}),
        };
        Script::result(request, &result)
    });
    let run = with(&server, &["tools"]);
    for part in [
        "save_snack  Save it",
        "Saves.\n  Truly.",
        "snack (fruit | popcorn)  Which",
        "n (integer, optional)",
        "snack_menu",
    ] {
        assert!(
            run.assert_status(0).out.contains(part),
            "{part}: {}",
            run.out
        );
    }
    let list = with(&server, &["tools", "--json"]).json();
    let names: Vec<_> = list["result"]["tools"]
        .as_array()
        .unwrap()
        .iter()
        .map(|tool| &tool["name"])
        .collect();
    assert_eq!(names, ["save_snack", "snack_menu"]);
    assert_eq!(list["result"]["excluded"], json!([]));
}

#[test]
fn a_tool_that_pup_could_not_use_is_a_failure_that_still_shows_the_rest() {
    let server = Server::with_result(json!({"tools": [
        {"name": "good", "inputSchema": {"type": "object"}},
        {"name": "bad", "inputSchema": {"type": "object", "properties": {"p": {"type": "number", "x-mcp-header": "P"}}}},
    ]}));
    let run = with(&server, &["tools", "--json"]);
    let document = run.assert_status(1).json();
    assert_eq!(document["result"]["tools"][0]["name"], "good");
    assert_eq!(document["result"]["excluded"][0]["name"], "bad");
    assert_eq!(document["error"]["kind"], "invalid");
}

#[test]
fn a_call_shows_its_result_once_with_what_pup_would_show() {
    let server = Server::with_result(complete(&json!({"saved": "fruit", "pup": {
        "fields": [{"label": "Choices", "value": "fruit, popcorn"}],
        "actions": [{"id": "a", "label": "Save fruit", "tool": "save_snack", "arguments": {"snack": "fruit"}}],
    }})));
    let run = with(
        &server,
        &[
            "call",
            "save_snack",
            r#"{"snack":"fruit"}"#,
            "--call-id",
            "call_1",
        ],
    );
    let out = &run.assert_status(0).out;
    assert_eq!(out.matches("saved").count(), 1, "{out}");
    assert!(out.contains("Choices: fruit, popcorn"), "{out}");
    assert!(
        out.contains(r#"[Save fruit] call save_snack '{"snack":"fruit"}'"#),
        "{out}"
    );
    assert!(
        run.err.contains("HTTP 200") && run.err.contains("callId call_1"),
        "{}",
        run.err
    );
    assert!(
        !out.contains('\u{1b}') && !run.err.contains('\u{1b}'),
        "no colours but on a terminal"
    );
}

#[test]
fn every_option_of_a_call_reaches_the_extension() {
    let server = Server::with_result(complete(&json!({})));
    let run = with(
        &server,
        &[
            "call",
            "quote_request",
            "--json",
            "--call-id",
            "call_1",
            "--webhook-id",
            "msg_1",
            "--installation",
            "guild_1",
            "--asker",
            "member_7",
            "--channel",
            "channel_3",
            "--setting",
            "greeting=Hello you",
            "--setting",
            "limit=5",
            "--setting",
            "loud=true",
            "--user-request",
            "a snack",
            "--user-request-id",
            "m1",
            "--user-request-channel",
            "c2",
        ],
    );
    let document = run.assert_status(0).json();
    assert_eq!(
        (&document["callId"], &document["webhookId"]),
        (&json!("call_1"), &json!("msg_1"))
    );
    let request = server.request();
    request.assert_signed();
    assert_eq!(request.header("webhook-id"), Some("msg_1"));
    assert_eq!(request.json()["params"]["arguments"], json!({}));
    let context = json!({
        "installationId": "guild_1",
        "askerId": "member_7",
        "channelId": "channel_3",
        "settings": {"greeting": "Hello you", "limit": 5, "loud": true},
        "callId": "call_1",
        "userRequest": {"messageId": "m1", "channelId": "c2", "content": "a snack"},
    });
    assert_eq!(request.context(), context);
}

#[test]
fn a_message_without_a_channel_of_its_own_comes_from_the_calls() {
    let server = Server::with_result(complete(&json!({})));
    with(
        &server,
        &[
            "call",
            "t",
            "--channel",
            "c9",
            "--user-request",
            "x",
            "--no-call-id",
        ],
    )
    .assert_status(0);
    let context = server.request().context();
    assert_eq!(context["userRequest"]["channelId"], "c9");
    assert_eq!(context.get("callId"), None);
}

#[test]
fn arguments_come_from_the_command_line_standard_input_or_a_file() {
    let server = Server::with_result(complete(&json!({})));
    let file = tempfile::NamedTempFile::new().unwrap();
    std::fs::write(file.path(), r#"{"from":"file"}"#).unwrap();
    let at_file = format!("@{}", file.path().display());
    let secret = [("PUP_SIGNING_SECRET", SECRET)];
    for (source, input, from) in [
        ("-", r#"{"from":"input"}"#, "input"),
        (&at_file, "", "file"),
        (r#"{"from":"line"}"#, "", "line"),
    ] {
        run(&["call", "t", source, "--url", &server.url], &secret, input).assert_status(0);
        assert_eq!(
            server.requests().last().unwrap().json()["params"]["arguments"]["from"],
            from
        );
    }
}

#[test]
fn a_rejection_is_shown_and_is_a_failure() {
    let server = Server::with_result(
        json!({"isError": true, "content": [{"type": "text", "text": "sold out"}]}),
    );
    let run = with(&server, &["call", "t"]);
    assert!(run.assert_status(1).out.contains("sold out"));
    assert!(run.err.contains("rejected"), "{}", run.err);
    let document = with(&server, &["call", "t", "--json"])
        .assert_status(1)
        .json();
    assert_eq!(
        (&document["ok"], &document["error"]["kind"]),
        (&json!(false), &json!("rejected"))
    );
    assert_eq!(document["result"]["isError"], true);
}

#[test]
fn a_call_that_goes_on_as_a_task_names_it() {
    let task = task(
        "working",
        &json!({"resultType": "task", "statusMessage": "at it"}),
    );
    let server = Server::with_result(task.clone());
    let run = with(&server, &["call", "bake"]);
    assert!(
        run.assert_status(0)
            .out
            .contains("goes on as a task: t1 (working: at it)"),
        "{}",
        run.out
    );
    assert_eq!(
        with(&server, &["call", "bake", "--json"]).json()["result"],
        task
    );
}

#[test]
fn a_question_outside_of_a_task_is_a_failure() {
    let server = Server::with_result(json!({"resultType": "input_required", "inputRequests": {}}));
    let run = with(&server, &["call", "t", "--json"]);
    assert_eq!(run.assert_status(1).json()["error"]["kind"], "invalid");
}

#[test]
fn a_json_rpc_error_is_told_with_its_code_data_and_a_hint() {
    let server = Server::start(|request| {
        let data = json!({"violations": ["snack"]});
        Script::error(
            request,
            400,
            &json!({"code": -32602, "message": "bad arguments", "data": data}),
        )
    });
    let run = with(&server, &["call", "t"]);
    for part in [
        "bad arguments",
        "-32602",
        "HTTP 400",
        "violations",
        "hint: `pup-ext tools`",
    ] {
        assert!(
            run.assert_status(1).err.contains(part),
            "{part}: {}",
            run.err
        );
    }
    let document = with(&server, &["call", "t", "--json"])
        .assert_status(1)
        .json();
    assert_eq!(document["ok"], false);
    assert_eq!(document["status"], 400);
    assert_eq!(document["error"]["kind"], "refused");
    assert_eq!(document["error"]["code"], -32602);
    assert_eq!(document["error"]["data"], json!({"violations": ["snack"]}));
    assert!(document.get("result").is_none());
}

#[test]
fn a_context_that_is_refused_is_not_blamed_on_the_arguments() {
    let server = Server::start(|request| {
        let message = "params._meta[\"io.puphq/context\"].askerId must have 1 to 256 bytes";
        Script::error(request, 400, &json!({"code": -32602, "message": message}))
    });
    for command in [
        &["call", "t", "--asker", ""][..],
        &["task", "get", "task_1", "--asker", ""],
    ] {
        let run = with(&server, command);
        let said = &run.assert_status(1).err;
        assert!(
            said.contains("hint: ") && said.contains("--call-id"),
            "{said}"
        );
        assert!(!said.contains("pup-ext tools"), "{said}");
    }
}

#[test]
fn common_statuses_come_with_what_to_do() {
    for (status, hint) in [
        (401, "check that the secret"),
        (403, "firewall"),
        (404, "check --url"),
        (405, "check --url"),
        (409, "leave --webhook-id out"),
        (413, "1 MiB"),
        (500, "log"),
    ] {
        let server = Server::start(move |_| Script::json(status, &json!({"error": "because"})));
        for command in [
            &["challenge"][..],
            &["discover"],
            &["tools"],
            &["call", "t"],
        ] {
            let run = with(&server, command);
            assert!(
                run.assert_status(1).err.contains(hint),
                "{command:?} {status}: {}",
                run.err
            );
            assert!(run.err.contains("because"), "{}", run.err);
        }
    }
}

#[test]
fn a_replayed_id_is_told_with_what_to_do_when_the_answer_is_json_rpc_too() {
    let server = Server::start(|request| {
        Script::error(request, 409, &json!({"code": 1001, "message": "seen"}))
    });
    let run = with(&server, &["call", "t", "--webhook-id", "msg_1"]);
    assert!(
        run.assert_status(1).err.contains("leave --webhook-id out"),
        "{}",
        run.err
    );
}

#[test]
fn an_event_is_delivered_and_its_presentation_shown() {
    let server =
        Server::start(|_| Script::json(200, &json!({"presentation": {"text": "Welcome!"}})));
    let args = [
        "event",
        "member.joined",
        "--member",
        "m1",
        "--delivery-id",
        "d1",
        "--installation",
        "guild_1",
    ];
    let run = with(&server, &args);
    assert!(run.assert_status(0).out.contains("Welcome!"));
    let request = server.request();
    request.assert_signed();
    assert_eq!(request.header("webhook-id"), Some("d1"));
    let envelope = request.json();
    assert_eq!(
        (&envelope["id"], &envelope["eventId"]),
        (&json!("d1"), &json!("evt_d1"))
    );
    assert_eq!(
        envelope["event"],
        json!({"type": "member.joined", "memberId": "m1"})
    );
    assert_eq!(envelope["context"]["installationId"], "guild_1");

    let document = with(
        &server,
        &[&args[..], &["--json", "--event-id", "e1"]].concat(),
    )
    .json();
    assert_eq!(
        document["result"],
        json!({"presentation": {"text": "Welcome!"}})
    );
    assert_eq!(server.requests()[1].json()["eventId"], "e1");
}

#[test]
fn an_event_with_nothing_to_present_is_accepted_and_a_busy_one_says_when_to_come_back() {
    let server = Server::start(|_| Script::json(200, &json!({})));
    let run = with(&server, &["event", "member.left", "--member", "m1"]);
    assert!(run.assert_status(0).out.contains("nothing to present"));

    let server =
        Server::start(|_| Script::Answer(503, vec![("retry-after", "2".to_owned())], Vec::new()));
    let run = with(&server, &["event", "member.left", "--member", "m1"]);
    assert!(
        run.assert_status(1).err.contains("try again in 2 s"),
        "{}",
        run.err
    );

    let server = Server::start(|_| Script::json(404, &json!({})));
    let run = with(&server, &["event", "member.left", "--member", "m1"]);
    assert!(
        run.assert_status(1).err.contains("without event handlers"),
        "{}",
        run.err
    );
}

#[test]
fn answers_that_pup_would_not_take_are_failures_that_say_so() {
    let gzip = || vec![("content-encoding", "gzip".to_owned())];
    let location = || vec![("location", "/".to_owned())];
    let server = |status, headers: Vec<(&'static str, String)>, body: Vec<u8>| {
        Server::start(move |_| Script::Answer(status, headers.clone(), body.clone()))
    };
    for (server, words) in [
        (server(302, location(), Vec::new()), "redirect"),
        (server(200, gzip(), b"{}".to_vec()), "compressed"),
        (
            server(200, Vec::new(), vec![b' '; 1_048_577]),
            "1048576 bytes",
        ),
        (server(200, Vec::new(), b"<html>".to_vec()), "not JSON"),
        (server(200, Vec::new(), b"[]".to_vec()), "no object"),
        (
            server(
                200,
                Vec::new(),
                br#"{"jsonrpc":"2.0","id":999,"result":{}}"#.to_vec(),
            ),
            "another request",
        ),
    ] {
        let run = with(&server, &["call", "t"]);
        assert!(
            run.assert_status(1).err.contains(words),
            "{words}: {}",
            run.err
        );
        let document = with(&server, &["call", "t", "--json"])
            .assert_status(1)
            .json();
        assert_eq!(document["error"]["kind"], "invalid");
    }
}

#[test]
fn no_answer_has_an_exit_status_of_its_own() {
    let listener = std::net::TcpListener::bind("127.0.0.1:0").unwrap();
    let nowhere = format!("http://{}", listener.local_addr().unwrap());
    drop(listener);
    let run = pup_ext(&["discover", "--url", &nowhere]);
    assert!(
        run.assert_status(3).err.contains("is it running?"),
        "{}",
        run.err
    );
    let document = pup_ext(&["discover", "--url", &nowhere, "--json"])
        .assert_status(3)
        .json();
    assert_eq!(
        (&document["ok"], &document["error"]["kind"]),
        (&json!(false), &json!("unreachable"))
    );

    let slow = Server::start(|_| Script::Late(Duration::from_secs(30), Vec::new()));
    let run = with(&slow, &["call", "t", "--deadline", "0.3"]);
    assert!(
        run.assert_status(3).err.contains("within 0.3 s"),
        "{}",
        run.err
    );
    assert!(run.err.contains("belongs in a task"), "{}", run.err);

    let broken = Server::start(|_| Script::Bytes(b"nonsense".to_vec()));
    with(&broken, &["manifest"]).assert_status(3);
}

#[test]
fn nothing_is_sent_when_the_command_line_is_wrong() {
    let server = Server::with_result(json!({}));
    for (args, words) in [
        (&["call"][..], "TOOL"),
        (&["nap"], "nap"),
        (&["call", "t", "{"], "not JSON"),
        (&["call", "t", "[1]"], "no JSON object"),
        (&["call", "t", "@/no/such/file"], "can't be read"),
        (&["call", "t", "--setting", "greeting"], "no `=`"),
        (
            &["call", "t", "--call-id", "a", "--no-call-id"],
            "cannot be used with",
        ),
        (&["call", "t", "--webhook-id", "a b"], "can't be signed"),
        (&["call", "t", "--user-request-id", "m1"], "--user-request"),
        (&["event", "member.joined"], "--member"),
        (&["discover", "--deadline", "0"], "above zero"),
        (
            &["discover", "--secret-file", "/no/such/file"],
            "can't be read",
        ),
        (&["discover", "--skew", "-9999999999"], "before 1970"),
    ] {
        let run = with(&server, args);
        assert!(
            run.assert_status(2).err.contains(words),
            "{args:?}: {}",
            run.err
        );
    }
    for (url, words) in [
        ("http://x.example", "requires https"),
        ("https://user:pass@x.example", "credentials"),
        ("x", "absolute"),
    ] {
        let run = pup_ext(&["discover", "--url", url]);
        assert!(
            run.assert_status(2).err.contains(words),
            "{url}: {}",
            run.err
        );
    }
    assert!(server.requests().is_empty());
    let document = with(&server, &["call", "t", "{", "--json"])
        .assert_status(2)
        .json();
    assert_eq!(
        (&document["ok"], &document["error"]["kind"]),
        (&json!(false), &json!("usage"))
    );
}

#[test]
fn the_secret_comes_from_the_option_the_file_or_the_environment_in_this_order() {
    let server = Server::start(|request| Script::json(200, &request.json()));
    let other = "whsec_C2FVsBQIhrscChlQIMV+b5sSYspob7oD";
    let file = tempfile::NamedTempFile::new().unwrap();
    std::fs::write(file.path(), format!("{SECRET}\n")).unwrap();
    let path = file.path().to_str().unwrap();
    let base = ["challenge", "--url", &server.url];
    run(&base, &[("PUP_SIGNING_SECRET", SECRET)], "").assert_status(0);
    run(
        &[&base[..], &["--secret-file", path]].concat(),
        &[("PUP_SIGNING_SECRET", other)],
        "",
    )
    .assert_status(0);
    run(
        &[&base[..], &["--secret", SECRET]].concat(),
        &[("PUP_SIGNING_SECRET", other)],
        "",
    )
    .assert_status(0);
    let bare = SECRET.strip_prefix("whsec_").unwrap();
    run(&base, &[("PUP_SIGNING_SECRET", bare)], "").assert_status(0);
    assert_eq!(server.requests().len(), 4);
    server.requests().iter().for_each(Received::assert_signed);

    let none = run(&base, &[], "");
    assert!(
        none.assert_status(2).err.contains("set PUP_SIGNING_SECRET"),
        "{}",
        none.err
    );
}

#[test]
fn a_secret_that_can_not_be_used_is_named_by_its_place_and_not_shown() {
    for secret in ["whsec_c2hvcnQ=", "whsec_%%private%%", "private"] {
        let run = run(&["challenge"], &[("PUP_SIGNING_SECRET", secret)], "");
        assert!(
            run.assert_status(2).err.contains("PUP_SIGNING_SECRET"),
            "{}",
            run.err
        );
        assert!(
            !run.err.contains(secret) && !run.err.contains("private"),
            "{}",
            run.err
        );
        let run = pup_ext(&["challenge", "--secret", secret]);
        assert!(run.assert_status(2).err.contains("--secret"), "{}", run.err);
        assert!(
            !run.err.contains(secret) && !run.err.contains("private"),
            "{}",
            run.err
        );
    }
}

#[test]
fn help_names_the_exit_statuses_and_warns_of_secrets_on_the_command_line_but_shows_none() {
    let help = pup_ext(&["--help"]);
    for part in [
        "Exit status:",
        "can't be reached",
        "Other users of this machine",
        "PUP_URL",
    ] {
        assert!(
            help.assert_status(0).out.contains(part),
            "{part}: {}",
            help.out
        );
    }
    assert!(
        pup_ext(&["--version"])
            .assert_status(0)
            .out
            .starts_with("pup-ext ")
    );
}

#[test]
fn the_clock_can_be_skewed() {
    let server = Server::start(|request| Script::json(200, &request.json()));
    let now = std::time::SystemTime::now()
        .duration_since(std::time::UNIX_EPOCH)
        .unwrap()
        .as_secs();
    with(&server, &["challenge", "--skew", "-600"]).assert_status(0);
    server.request().assert_signed_at(now - 600);
}

#[test]
fn nothing_from_the_extension_steers_the_terminal() {
    let server = Server::with_result(json!({"content": [{"type": "text", "text": "a\u{1b}[2Jb"}]}));
    let run = with(&server, &["call", "t"]);
    assert!(
        run.assert_status(0).out.contains(r"a\u{1b}[2Jb"),
        "{:?}",
        run.out
    );

    let server = Server::start(|request| {
        Script::error(
            request,
            400,
            &json!({"code": 1, "message": "\u{1b}]0;x\u{7}"}),
        )
    });
    let run = with(&server, &["call", "t"]);
    assert!(
        !run.assert_status(1).err.contains('\u{1b}'),
        "{:?}",
        run.err
    );
}
