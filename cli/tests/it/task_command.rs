//! `pup-ext task`, and calls that are followed: what is sent, printed and returned.

use std::{
    io::{BufRead as _, BufReader},
    process::{Command, Stdio},
    sync::Mutex,
};

use serde_json::{Value, json};

use crate::{
    command::{Run, complete, pup_ext, run, with},
    server::{Received, SECRET, Script, Server, task},
};

/// Runs the command with lines to read.
fn typing(server: &Server, args: &[&str], lines: &str) -> Run {
    run(
        &[&["--url", &server.url], args].concat(),
        &[("PUP_SIGNING_SECRET", SECRET)],
        lines,
    )
}

/// A server whose task stands in each of these ways in turn. One that requires input stands until an answer
/// comes, and the last one for good; any other is over once it was told. `tools/call` creates the task.
fn story(steps: Vec<Value>) -> Server {
    let at = Mutex::new(0);
    Server::start(move |request| {
        let mut at = at.lock().unwrap();
        let last = steps.len() - 1;
        let step = &steps[*at];
        match request.json()["method"].as_str().unwrap() {
            "tools/call" => {
                let created = json!({"resultType": "task", "statusMessage": "preheating"});
                Script::result(request, &task("working", &created))
            }
            "tasks/get" => {
                if step["status"] != "input_required" {
                    *at = last.min(*at + 1);
                }
                Script::result(request, step)
            }
            _ => {
                *at = last.min(*at + 1);
                Script::result(request, &json!({"resultType": "complete"}))
            }
        }
    })
}

fn working(message: &str) -> Value {
    task("working", &json!({"statusMessage": message}))
}

fn completed(structured: &Value) -> Value {
    task("completed", &json!({"result": complete(structured)}))
}

fn form(schema: &Value) -> Value {
    json!({"method": "elicitation/create", "params": {
        "mode": "form", "message": "Sweet or salty?", "requestedSchema": schema,
    }})
}

fn taste() -> Value {
    form(&json!({
        "type": "object",
        "properties": {"taste": {"type": "string", "enum": ["sweet", "salty"]}},
        "required": ["taste"],
    }))
}

fn asking(requests: &Value) -> Value {
    task("input_required", &json!({"inputRequests": requests}))
}

fn updates(server: &Server) -> Vec<Value> {
    let requests = server.requests().into_iter().map(|request| request.json());
    requests
        .filter(|body| body["method"] == "tasks/update")
        .map(|body| body["params"]["inputResponses"].clone())
        .collect()
}

fn assert_shows(text: &str, parts: &[&str]) {
    for part in parts {
        assert!(text.contains(part), "{part}: {text}");
    }
}

#[test]
fn every_option_reaches_the_extension() {
    let server = story(vec![working("at it")]);
    let common = [
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
        "greeting=Hello",
        "--json",
    ];
    let commands: [(&[&str], &str); 3] = [
        (&["task", "get", "t1"], "tasks/get"),
        (&["task", "answer", "t1", "--decline", "k"], "tasks/update"),
        (&["task", "cancel", "t1"], "tasks/cancel"),
    ];
    for (command, method) in commands {
        let run = with(&server, &[command, &common].concat());
        let document = run.assert_status(0).json();
        assert_eq!(
            (&document["callId"], &document["webhookId"]),
            (&json!("call_1"), &json!("msg_1"))
        );
        let request = server.requests().pop().unwrap();
        request.assert_signed();
        assert_eq!(request.header("mcp-method"), Some(method));
        assert_eq!(request.header("mcp-name"), Some("t1"));
        assert_eq!(request.header("webhook-id"), Some("msg_1"));
        let context = json!({
            "installationId": "guild_1",
            "askerId": "member_7",
            "channelId": "channel_3",
            "settings": {"greeting": "Hello"},
            "callId": "call_1",
        });
        assert_eq!(request.context(), context);
    }
}

#[test]
fn a_call_that_goes_on_as_a_task_says_how_to_follow_it() {
    let server = story(vec![working("at it")]);
    let args = ["call", "bake", "--call-id", "call_1", "--asker", "member 7"];
    let run = run(
        &args,
        &[("PUP_SIGNING_SECRET", SECRET), ("PUP_URL", &server.url)],
        "",
    );
    let next = "next: pup-ext task watch t1 --call-id call_1 --asker 'member 7'\n";
    assert_shows(&run.assert_status(0).err, &[next]);
    // Where the environment does not say it, the command does.
    let run = with(&server, &["call", "bake", "--no-call-id"]);
    let next = format!("next: pup-ext task watch t1 --url {}\n", server.url);
    assert_shows(&run.assert_status(0).err, &[&next]);
}

#[test]
fn a_task_is_shown_as_it_stands() {
    let get = |task| with(&story(vec![task]), &["task", "get", "t1"]);
    let run = get(working("1 of 3"));
    assert_shows(
        &run.assert_status(0).out,
        &["working: 1 of 3", "2026-07-28T00:00:01.000Z", "86400 s"],
    );
    assert_shows(&run.err, &["next: pup-ext task watch t1"]);

    let run = get(asking(&json!({"key_1": taste()})));
    assert_shows(
        &run.assert_status(0).out,
        &[
            "input_required\n",
            "key_1  Sweet or salty?",
            "taste (sweet | salty)",
        ],
    );
    let next = r#"next: pup-ext task answer t1 key_1 '{"taste":"sweet"}'"#;
    assert_shows(&run.err, &[next]);

    let run = get(completed(&json!({"batches": 3})));
    assert_shows(
        &run.assert_status(0).out,
        &["completed\n", "\"batches\": 3"],
    );
    assert!(!run.err.contains("next:"), "{}", run.err);

    let failed = task(
        "failed",
        &json!({"ttlMs": null, "error": {"code": -32603, "message": "the oven broke", "data": {"at": 2}}}),
    );
    let run = get(failed);
    assert_shows(
        &run.assert_status(0).out,
        &[
            "failed\n",
            "without end",
            "the oven broke (-32603)",
            "\"at\": 2",
        ],
    );
}

#[test]
fn machines_get_the_task_as_it_came() {
    let asking = asking(&json!({"key_1": taste()}));
    let server = story(vec![asking.clone()]);
    let document = with(&server, &["task", "get", "t1", "--json"]).json();
    assert_eq!(document["result"], asking);
}

#[test]
fn an_answer_is_sent_as_it_was_given() {
    let server = story(vec![working("at it")]);
    let file = tempfile::NamedTempFile::new().unwrap();
    std::fs::write(file.path(), r#"{"from":"file"}"#).unwrap();
    let at_file = format!("@{}", file.path().display());
    let run = typing(
        &server,
        &[
            "task",
            "answer",
            "t1",
            "a",
            r#"{"taste":"sweet"}"#,
            "b",
            &at_file,
            "c",
            "-",
            "--decline",
            "d",
            "--decline",
            "e",
            "--cancel-input",
            "f",
        ],
        r#"{"from":"input"}"#,
    );
    assert_shows(
        &run.assert_status(0).out,
        &["acknowledged: a, b, c, d, e, f"],
    );
    assert_shows(&run.err, &["next: pup-ext task watch t1"]);
    let expected = json!({
        "a": {"action": "accept", "content": {"taste": "sweet"}},
        "b": {"action": "accept", "content": {"from": "file"}},
        "c": {"action": "accept", "content": {"from": "input"}},
        "d": {"action": "decline"},
        "e": {"action": "decline"},
        "f": {"action": "cancel"},
    });
    assert_eq!(updates(&server), [expected]);
}

#[test]
fn an_answer_that_the_task_does_not_take_is_a_failure() {
    let server = Server::start(|request| {
        let error = json!({"code": -32602, "message": "taste: must be one of sweet, salty"});
        Script::error(request, 400, &error)
    });
    let args = ["task", "answer", "t1", "k", r#"{"taste":"sour"}"#];
    let run = with(&server, &args);
    assert_shows(
        &run.assert_status(1).err,
        &["taste: must be one of", "-32602", "pup-ext task get"],
    );
    let document = with(&server, &[&args[..], &["--json"]].concat())
        .assert_status(1)
        .json();
    assert_eq!(document["error"]["code"], -32602);
}

#[test]
fn cancelling_is_acknowledged_and_promises_nothing() {
    let server = story(vec![working("at it")]);
    let run = with(&server, &["task", "cancel", "t1"]);
    assert_shows(
        &run.assert_status(0).out,
        &["acknowledged", "may still end otherwise"],
    );
    assert_eq!(server.request().json()["method"], "tasks/cancel");
}

#[test]
fn a_task_that_is_not_there_is_told_with_what_to_do() {
    let server = Server::start(|request| {
        let error = json!({"code": -32602, "message": "there is no such task"});
        Script::error(request, 400, &error)
    });
    for command in [
        &["get", "t9"][..],
        &["cancel", "t9"],
        &["watch", "t9"],
        &["answer", "t9", "--decline", "k"],
    ] {
        let run = with(&server, &[&["task"], command].concat());
        assert_shows(
            &run.assert_status(1).err,
            &["there is no such task", "-32602", "--asker, --installation"],
        );
    }
    assert_eq!(server.requests().len(), 4, "nothing is asked again");
}

#[test]
fn answers_of_another_form_are_failures_that_say_so() {
    for (result, words) in [
        (task("paused", &json!({})), "`status` is none that is known"),
        (task("working", &json!({"taskId": "t2"})), "another task"),
        (task("working", &json!({"ttlMs": "soon"})), "`ttlMs`"),
        (task("completed", &json!({})), "`result`"),
        (json!({"resultType": "task"}), "`resultType`"),
    ] {
        let server = Server::with_result(result);
        for command in ["get", "watch"] {
            let args = ["task", command, "t1"];
            let run = with(&server, &args);
            assert_shows(&run.assert_status(1).err, &[words]);
            let document = with(&server, &[&args[..], &["--json"]].concat())
                .assert_status(1)
                .json();
            assert_eq!(document["error"]["kind"], "invalid");
        }
    }
    let server = Server::with_result(json!({"resultType": "task"}));
    for command in [&["answer", "t1", "--decline", "k"][..], &["cancel", "t1"]] {
        let run = with(&server, &[&["task"], command].concat());
        assert_shows(&run.assert_status(1).err, &["`resultType`"]);
    }
}

#[test]
fn each_change_of_status_or_message_is_printed_once() {
    let server = story(vec![
        working("1 of 2"),
        working("1 of 2"),
        // What is no change of status or message, is none.
        task(
            "working",
            &json!({"statusMessage": "1 of 2", "lastUpdatedAt": "2026-07-28T00:00:09.000Z"}),
        ),
        working("2 of 2"),
        working("1 of 2"),
        task("working", &json!({})),
        task("working", &json!({})),
        completed(&json!({"batches": 2})),
    ]);
    let run = with(&server, &["task", "watch", "t1", "--call-id", "call_1"]);
    let shown: Vec<_> = run.assert_status(0).out.lines().take(5).collect();
    let expected = [
        "working: 1 of 2",
        "working: 2 of 2",
        "working: 1 of 2",
        "working",
        "completed",
    ];
    assert_eq!(shown, expected);
    assert_shows(&run.out, &["\"batches\": 2"]);

    let requests = server.requests();
    assert_eq!(requests.len(), 8);
    let ids: std::collections::BTreeSet<_> = requests
        .iter()
        .map(|request| request.header("webhook-id").unwrap())
        .collect();
    assert_eq!(ids.len(), 8, "each is a request of its own");
    for request in &requests {
        request.assert_signed();
        assert_eq!(request.context()["callId"], "call_1");
    }
}

#[test]
fn machines_get_the_changes_and_the_task_at_its_end() {
    let end = completed(&json!({"batches": 2}));
    let server = story(vec![working("1 of 2"), working("1 of 2"), end.clone()]);
    let document = with(&server, &["task", "watch", "t1", "--json"])
        .assert_status(0)
        .json();
    assert_eq!(document["result"], end);
    assert_eq!(
        document["changes"],
        json!([{"status": "working", "statusMessage": "1 of 2"}, {"status": "completed"}])
    );
}

#[test]
fn a_change_is_shown_while_the_task_goes_on() {
    let (release, held) = std::sync::mpsc::channel::<()>();
    let held = Mutex::new(Some(held));
    let first = Mutex::new(true);
    let server = Server::start(move |request| {
        if std::mem::take(&mut *first.lock().unwrap()) {
            return Script::result(request, &working("1 of 2"));
        }
        // Until the line was seen; or the test is over, and the other end with it.
        if let Some(held) = held.lock().unwrap().take() {
            held.recv().ok();
        }
        Script::result(request, &completed(&json!({})))
    });
    let mut child = Command::new(env!("CARGO_BIN_EXE_pup-ext"))
        .args(["task", "watch", "t1", "--url", &server.url])
        .args(["--deadline", "60"])
        .env_clear()
        .env("PUP_SIGNING_SECRET", SECRET)
        .stdin(Stdio::null())
        .stdout(Stdio::piped())
        .stderr(Stdio::null())
        .spawn()
        .unwrap();
    let mut lines = BufReader::new(child.stdout.take().unwrap()).lines();
    assert_eq!(lines.next().unwrap().unwrap(), "working: 1 of 2");
    release.send(()).unwrap();
    assert_eq!(lines.next().unwrap().unwrap(), "completed");
    assert!(child.wait().unwrap().success());
}

#[test]
fn the_end_of_a_task_is_the_exit_status() {
    let watch = |end| with(&story(vec![end]), &["task", "watch", "t1"]);
    let rejected =
        json!({"result": {"isError": true, "content": [{"type": "text", "text": "sold out"}]}});
    let run = watch(task("completed", &rejected));
    assert_shows(&run.assert_status(1).out, &["completed\n", "sold out"]);
    assert_shows(&run.err, &["rejected:"]);

    let error = json!({"code": -32603, "message": "the oven broke", "data": {"at": 2}});
    let failed = task(
        "failed",
        &json!({"statusMessage": "no heat", "error": error}),
    );
    let run = watch(failed.clone());
    assert_shows(&run.assert_status(1).out, &["failed: no heat\n"]);
    assert_shows(
        &run.err,
        &["the task failed: the oven broke (code -32603)", "\"at\": 2"],
    );
    let document = with(
        &story(vec![failed.clone()]),
        &["task", "watch", "t1", "--json"],
    )
    .assert_status(1)
    .json();
    assert_eq!(document["error"]["code"], -32603);
    assert_eq!(document["error"]["kind"], "refused");
    assert_eq!(document["result"], failed);

    let run = watch(task("cancelled", &json!({"statusMessage": "as asked"})));
    assert_shows(&run.assert_status(1).out, &["cancelled: as asked\n"]);
    assert_shows(&run.err, &["the task was cancelled"]);
}

#[test]
fn without_a_terminal_the_questions_and_the_way_to_answer_are_printed() {
    let asking = asking(&json!({"key_1": taste(), "key_2": taste()}));
    for option in [&[][..], &["--no-input"]] {
        let server = story(vec![working("at it"), asking.clone()]);
        let args = [&["task", "watch", "t1", "--call-id", "call_1"][..], option].concat();
        let run = typing(&server, &args, "sweet\nsweet\n");
        assert_shows(
            &run.assert_status(4).out,
            &[
                "input_required\n",
                "key_1  Sweet or salty?",
                "taste (sweet | salty)",
            ],
        );
        let hint = r#"pup-ext task answer t1 key_1 '{"taste":"sweet"}' key_2 '{"taste":"sweet"}' --call-id call_1"#;
        assert_shows(&run.err, &["the task waits for input", hint]);
        assert!(updates(&server).is_empty());
    }
    let server = story(vec![asking.clone()]);
    let document = with(&server, &["task", "watch", "t1", "--json"])
        .assert_status(4)
        .json();
    assert_eq!(document["error"]["kind"], "input_required");
    assert_eq!(document["result"], asking);
}

#[test]
fn what_the_task_asks_is_asked_once_and_answered() {
    let server = story(vec![
        working("at it"),
        asking(&json!({"key_1": taste()})),
        // The answer shows late, and a further question with it.
        asking(&json!({"key_1": taste(), "key_2": taste()})),
        working("at it"),
        completed(&json!({"snack": "fruit"})),
    ]);
    let run = typing(
        &server,
        &["task", "watch", "t1", "--input"],
        "sour\n2\n!decline\n",
    );
    let shown: Vec<_> = run.assert_status(0).out.lines().take(4).collect();
    assert_eq!(
        shown,
        [
            "working: at it",
            "input_required",
            "working: at it",
            "completed"
        ]
    );
    assert_shows(&run.out, &["\"snack\": \"fruit\""]);
    assert_eq!(
        run.err.matches("Sweet or salty? (key_1)").count(),
        1,
        "{}",
        run.err
    );
    assert_eq!(
        run.err.matches("Sweet or salty? (key_2)").count(),
        1,
        "{}",
        run.err
    );
    assert_shows(
        &run.err,
        &["1  sweet", "2  salty", "\"sour\" is none of the choices"],
    );
    let expected = [
        json!({"key_1": {"action": "accept", "content": {"taste": "salty"}}}),
        json!({"key_2": {"action": "decline"}}),
    ];
    assert_eq!(updates(&server), expected);
}

#[test]
fn questions_that_stand_together_are_answered_together() {
    let count = form(
        &json!({"properties": {"count": {"type": "integer", "default": 2}, "note": {"type": "string"}}}),
    );
    let server = story(vec![
        asking(&json!({"a": taste(), "b": count, "c": taste()})),
        completed(&json!({})),
    ]);
    typing(
        &server,
        &["task", "watch", "t1", "--input"],
        "1\n\n\n!cancel\n",
    )
    .assert_status(0);
    let expected = json!({
        "a": {"action": "accept", "content": {"taste": "sweet"}},
        "b": {"action": "accept", "content": {"count": 2}},
        "c": {"action": "cancel"},
    });
    assert_eq!(updates(&server), [expected]);
}

#[test]
fn an_answer_that_is_refused_is_asked_for_again() {
    let stands = Mutex::new(true);
    let server = Server::start(move |request| {
        let body = request.json();
        let mut stands = stands.lock().unwrap();
        if body["method"] == "tasks/get" {
            let asked =
                asking(&json!({"k": form(&json!({"properties": {"mail": {"type": "string"}}}))}));
            let now = if *stands {
                asked
            } else {
                completed(&json!({}))
            };
            return Script::result(request, &now);
        }
        if body["params"]["inputResponses"]["k"]["content"]["mail"] != "a@b.example" {
            let error = json!({"code": -32602, "message": "mail: no address"});
            return Script::error(request, 400, &error);
        }
        *stands = false;
        Script::result(request, &json!({"resultType": "complete"}))
    });
    let run = typing(
        &server,
        &["task", "watch", "t1", "--input"],
        "nobody\na@b.example\n",
    );
    assert_shows(&run.assert_status(0).err, &["mail: no address"]);
    assert_eq!(updates(&server).len(), 2);
}

#[test]
fn an_input_that_ends_leaves_the_question_open() {
    let server = story(vec![asking(&json!({"key_1": taste(), "key_2": taste()}))]);
    let run = typing(&server, &["task", "watch", "t1", "--input"], "sweet\n");
    assert_shows(&run.assert_status(4).err, &["the task waits for input"]);
    assert!(updates(&server).is_empty(), "nothing is answered by halves");
}

#[test]
fn a_request_that_is_no_form_is_none_that_pup_would_answer() {
    let sampling = json!({"method": "sampling/createMessage", "params": {"messages": []}});
    let server = story(vec![asking(&json!({"k": sampling}))]);
    let run = typing(&server, &["task", "watch", "t1", "--input"], "\n");
    assert_shows(
        &run.assert_status(1).err,
        &["sampling/createMessage", "forms alone"],
    );
    let run = with(&server, &["task", "get", "t1"]);
    assert_shows(&run.assert_status(0).out, &["sampling/createMessage"]);
}

#[test]
fn a_task_that_takes_too_long_is_left_to_itself() {
    let server = story(vec![working("at it")]);
    let args = ["task", "watch", "t1", "--timeout", "0.25"];
    let run = with(&server, &args);
    assert_shows(&run.assert_status(5).err, &["not ended within 0.25 s"]);
    assert_eq!(run.out, "working: at it\n");
    let document = with(&server, &[&args[..], &["--json"]].concat())
        .assert_status(5)
        .json();
    assert_eq!(document["error"]["kind"], "timeout");
    assert_eq!(document["result"], working("at it"));
}

#[test]
fn an_extension_that_is_gone_for_a_moment_is_asked_again() {
    let served = Mutex::new(0);
    let server = Server::start(move |request| {
        let mut served = served.lock().unwrap();
        *served += 1;
        match *served {
            1 => Script::result(request, &working("at it")),
            2 => Script::Bytes(Vec::new()),
            3 => Script::json(503, &json!({"error": "starting"})),
            _ => Script::result(request, &completed(&json!({}))),
        }
    });
    let run = with(&server, &["task", "watch", "t1"]);
    assert_shows(&run.assert_status(0).err, &["asking again: "]);
    assert_eq!(run.err.matches("asking again").count(), 1, "{}", run.err);
    assert_eq!(server.requests().len(), 4);
}

#[test]
fn an_extension_that_stays_away_is_a_failure_and_one_that_was_never_there_at_once() {
    let served = Mutex::new(false);
    let server = Server::start(move |request| {
        if std::mem::replace(&mut *served.lock().unwrap(), true) {
            return Script::json(500, &json!({"error": "broken for good"}));
        }
        Script::result(request, &working("at it"))
    });
    let run = with(&server, &["task", "watch", "t1"]);
    assert_shows(&run.assert_status(1).err, &["HTTP 500", "broken for good"]);
    assert_eq!(
        server.requests().len(),
        7,
        "one answer, one question, five more"
    );

    let server = Server::start(|_| Script::json(500, &json!({"error": "broken"})));
    with(&server, &["task", "watch", "t1"]).assert_status(1);
    assert_eq!(server.requests().len(), 1);
}

#[test]
fn a_call_can_be_followed_at_once() {
    let server = story(vec![
        working("preheating"),
        working("1 of 1"),
        asking(&json!({"key_1": taste()})),
        completed(&json!({"batches": 1})),
    ]);
    let args = [
        "call",
        "bake",
        "--watch",
        "--input",
        "--webhook-id",
        "msg_1",
        "--asker",
        "member_7",
    ];
    let run = typing(&server, &args, "sweet\n");
    let shown: Vec<_> = run.assert_status(0).out.lines().take(4).collect();
    let expected = [
        "goes on as a task: t1 (working: preheating)",
        "working: 1 of 1",
        "input_required",
        "completed",
    ];
    assert_eq!(shown, expected);
    assert_shows(&run.out, &["\"batches\": 1"]);

    let requests = server.requests();
    let call = &requests[0];
    assert_eq!(call.header("webhook-id"), Some("msg_1"));
    let call_id = |request: &Received| request.context()["callId"].clone();
    assert!(call_id(call).is_string());
    for request in &requests[1..] {
        assert_ne!(
            request.header("webhook-id"),
            Some("msg_1"),
            "it would be a replay"
        );
        assert_eq!(call_id(request), call_id(call));
        assert_eq!(request.context()["askerId"], "member_7");
    }
}

#[test]
fn a_followed_call_that_is_answered_at_once_is_a_call() {
    let server = Server::with_result(complete(&json!({"saved": "fruit"})));
    let run = with(
        &server,
        &["call", "save_snack", "--watch", "--timeout", "5"],
    );
    assert_shows(&run.assert_status(0).out, &["\"saved\": \"fruit\""]);
    assert_eq!(server.requests().len(), 1);
}

#[test]
fn nothing_is_sent_when_the_command_line_is_wrong() {
    let server = story(vec![working("at it")]);
    for (args, words) in [
        (&["task"][..], "get"),
        (&["task", "get"], "ID"),
        (&["task", "answer", "t1"], "KEY JSON"),
        (&["task", "answer", "t1", "k"], "has no answer"),
        (&["task", "answer", "t1", "k", "sweet"], "not JSON"),
        (&["task", "answer", "t1", "k", "[]"], "no JSON object"),
        (&["task", "answer", "t1", "k", "{}", "k", "{}"], "twice"),
        (
            &["task", "answer", "t1", "k", "{}", "--decline", "k"],
            "twice",
        ),
        (&["task", "watch", "t1", "--timeout", "0"], "above zero"),
        (
            &["task", "watch", "t1", "--input", "--no-input"],
            "cannot be used with",
        ),
        (
            &["call", "bake", "--timeout", "1"],
            "--timeout goes with --watch",
        ),
        (
            &["call", "bake", "--no-input"],
            "--no-input goes with --watch",
        ),
    ] {
        let run = with(&server, args);
        assert!(
            run.assert_status(2).err.contains(words),
            "{args:?}: {}",
            run.err
        );
    }
    assert!(server.requests().is_empty());
}

#[test]
fn nothing_of_a_task_steers_the_terminal() {
    let steering = "\u{1b}[2J\u{7}";
    let steered = json!({"method": "elicitation/create", "params": {"message": steering, "requestedSchema": {
        "properties": {steering: {"enum": [steering], "title": steering}},
    }}});
    let fields = json!({"statusMessage": steering, "createdAt": steering, "inputRequests": {steering: steered}});
    let asking = task("input_required", &fields);
    for args in [
        &["get", "t1"][..],
        &["watch", "t1"],
        &["watch", "t1", "--input"],
    ] {
        let server = story(vec![asking.clone(), completed(&json!({}))]);
        let run = typing(&server, &[&["task"], args].concat(), "1\n");
        assert!(
            !run.out.contains(['\u{1b}', '\u{7}']) && !run.err.contains(['\u{1b}', '\u{7}']),
            "{args:?}: {:?} {:?}",
            run.out,
            run.err
        );
        assert_shows(&run.out, &[r"\u{1b}[2J\u{7}"]);
    }
}

#[test]
fn a_reader_that_goes_away_ends_the_watch() {
    let server = Server::start(|request| {
        // Each time another message, so that there is always something to print.
        let id = request.json()["id"].to_string();
        Script::result(request, &working(&id))
    });
    let mut child = Command::new(env!("CARGO_BIN_EXE_pup-ext"))
        .args(["task", "watch", "t1", "--url", &server.url])
        .env_clear()
        .env("PUP_SIGNING_SECRET", SECRET)
        .stdin(Stdio::null())
        .stdout(Stdio::piped())
        .stderr(Stdio::null())
        .spawn()
        .unwrap();
    let mut reader = BufReader::new(child.stdout.take().unwrap());
    let mut line = String::new();
    reader.read_line(&mut line).unwrap();
    drop(reader);
    assert!(child.wait().unwrap().success());
}

#[test]
fn help_says_how_tasks_are_answered() {
    let help = pup_ext(&["task", "answer", "--help"]);
    assert_shows(
        &help.assert_status(0).out,
        &["KEY JSON", "--decline", "--cancel-input", "--call-id"],
    );
}
