//! The examples of the README, run as they stand there.

use std::{
    collections::BTreeSet,
    path::Path,
    process::{Command, Stdio},
    sync::Mutex,
};

use serde_json::{Value, json};

use crate::{
    command::complete,
    server::{Received, SECRET, Script, Server, task},
};

/// A command and what it must print, both streams together.
struct Example<'a> {
    command: &'a str,
    output: Vec<&'a str>,
}

#[test]
#[cfg(unix)]
fn every_example_of_the_readme_does_what_it_says() {
    let readme = include_str!("../../README.md");
    let server = snack_club();
    let mut commands = BTreeSet::new();
    for example in examples(readme) {
        let Some(rest) = example.command.split("pup-ext ").nth(1) else {
            continue;
        };
        let words = if rest.starts_with("task ") { 2 } else { 1 };
        commands.insert(rest.split(' ').take(words).collect::<Vec<_>>().join(" "));
        let printed = shell(example.command, &server.url);
        let expected = example.output.join("\n");
        assert!(
            matches(&expected, printed.trim_end()),
            "$ {}\nexpected:\n{expected}\nprinted:\n{printed}",
            example.command
        );
    }
    let all = [
        "call",
        "challenge",
        "discover",
        "event",
        "manifest",
        "secret",
        "task answer",
        "task cancel",
        "task get",
        "task watch",
        "tools",
    ];
    assert_eq!(
        commands.into_iter().collect::<Vec<_>>(),
        all,
        "each command has an example"
    );
}

#[test]
fn dots_stand_for_anything_and_all_else_for_itself() {
    assert!(matches("a…c\nd", "abbc\nd"));
    assert!(matches("a…", "a"));
    assert!(!matches("a…c", "abd"));
    assert!(!matches("ab", "abc"));
    assert!(!matches("b", "ab"));
    assert!(matches("a…c…e", "abcde"));
}

fn examples(readme: &str) -> Vec<Example<'_>> {
    let mut examples: Vec<Example<'_>> = Vec::new();
    let mut inside = false;
    for line in readme.lines() {
        match line {
            "```console" => inside = true,
            "```" => inside = false,
            _ if !inside => {}
            _ => match line.strip_prefix("$ ") {
                Some(command) => examples.push(Example {
                    command,
                    output: Vec::new(),
                }),
                None => examples.last_mut().unwrap().output.push(line),
            },
        }
    }
    examples
}

/// Runs a line of shell with `pup-ext` on the path, and returns what it prints to either stream.
fn shell(command: &str, url: &str) -> String {
    let folder = Path::new(env!("CARGO_BIN_EXE_pup-ext")).parent().unwrap();
    let path = std::env::join_paths([folder, Path::new("/usr/bin"), Path::new("/bin")]).unwrap();
    let output = Command::new("/bin/sh")
        .args(["-c", &format!("exec 2>&1; {command}")])
        .env_clear()
        .env("PATH", path)
        .env("PUP_URL", url)
        .env("PUP_SIGNING_SECRET", SECRET)
        .stdin(Stdio::null())
        .output()
        .unwrap();
    String::from_utf8(output.stdout).unwrap()
}

/// Whether a text is the expected one, where each `…` stands for anything.
fn matches(expected: &str, text: &str) -> bool {
    let mut parts = expected.split('…');
    let Some(mut rest) = text.strip_prefix(parts.next().unwrap()) else {
        return false;
    };
    let mut parts: Vec<_> = parts.collect();
    let Some(last) = parts.pop() else {
        return rest.is_empty();
    };
    for part in parts {
        match rest.split_once(part) {
            Some((_, after)) => rest = after,
            None => return false,
        }
    }
    rest.ends_with(last)
}

/// A server that answers what the examples ask as the Snack Club does.
fn snack_club() -> Server {
    let seen = Mutex::new(BTreeSet::new());
    let tasks = Tasks::default();
    Server::start(move |request| {
        if request.line.starts_with("GET /manifest.json ") {
            return Script::json(200, &manifest());
        }
        if !request.is_signed() {
            return Script::json(401, &json!({"error": "the signature does not match"}));
        }
        let body = request.json();
        if request.line.starts_with("POST /challenge ") {
            return Script::json(200, &body);
        }
        if request.line.starts_with("POST /events ") {
            return Script::json(
                200,
                &json!({"presentation": {"text": "Welcome to the Snack Club!"}}),
            );
        }
        let new = seen
            .lock()
            .unwrap()
            .insert(request.header("webhook-id").unwrap().to_owned());
        if !new {
            let error = json!({"code": 1001, "message": "this request was answered before"});
            return Script::error(request, 409, &error);
        }
        match body["method"].as_str().unwrap() {
            "server/discover" => Script::result(request, &discovery()),
            "tools/list" => Script::result(request, &tools()),
            "tools/call" => tasks.create(request).unwrap_or_else(|| call(request)),
            _ => tasks.about(request),
        }
    })
}

const INSTRUCTIONS: &str = "Use snack_menu when asked for the available snacks. Use save_snack only when asked to save a \
     preference. Use choose_snack for who can't decide, and bake_snacks only when asked to bake.";

/// The tasks that were made: `task_1`, `task_2` and so on.
#[derive(Default)]
struct Tasks(Mutex<Vec<TaskAt>>);

/// Where a task stands.
enum TaskAt {
    Baking { done: u64, batches: u64 },
    Asking,
    Chosen(&'static str),
    Cancelled,
}

impl Tasks {
    /// The answer to a call of a tool that goes on as a task.
    fn create(&self, request: &Received) -> Option<Script> {
        let params = &request.json()["params"];
        let at = match params["name"].as_str()? {
            "bake_snacks" => {
                let batches = params["arguments"]["batches"].as_u64()?;
                TaskAt::Baking { done: 0, batches }
            }
            "choose_snack" => TaskAt::Asking,
            _ => return None,
        };
        let mut tasks = self.0.lock().unwrap();
        tasks.push(at);
        let id = format!("task_{}", tasks.len());
        let created = task("working", &json!({"resultType": "task", "taskId": id}));
        Some(Script::result(request, &created))
    }

    fn about(&self, request: &Received) -> Script {
        let body = request.json();
        let id = body["params"]["taskId"].as_str().unwrap();
        let number = id.strip_prefix("task_").unwrap().parse::<usize>().unwrap();
        let mut tasks = self.0.lock().unwrap();
        let refused =
            |message| Script::error(request, 400, &json!({"code": -32602, "message": message}));
        let Some(at) = tasks.get_mut(number - 1) else {
            return refused(
                "params.taskId is no task of this member's here: it may have ended long ago",
            );
        };
        match body["method"].as_str().unwrap() {
            "tasks/get" => return Script::result(request, &at.go_on(id)),
            "tasks/cancel" => *at = TaskAt::Cancelled,
            _ => {
                let answer = &body["params"]["inputResponses"]["ask-0"]["content"]["taste"];
                *at = match answer.as_str() {
                    Some("sweet") => TaskAt::Chosen("fruit"),
                    Some("salty") => TaskAt::Chosen("popcorn"),
                    _ => {
                        return refused(
                            "params.inputResponses[\"ask-0\"] doesn't fit its form: answer.taste: must be one of \"sweet\", \"salty\"",
                        );
                    }
                };
            }
        }
        Script::result(request, &json!({"resultType": "complete"}))
    }
}

impl TaskAt {
    /// The task as it stands; a batch is baked before each question.
    fn go_on(&mut self, id: &str) -> Value {
        let complete = |structured: &Value| ("completed", json!({"result": complete(structured)}));
        let (status, mut fields) = match self {
            Self::Baking { done, batches } if *done < *batches => {
                *done += 1;
                (
                    "working",
                    json!({"statusMessage": format!("batch {done} of {batches}")}),
                )
            }
            Self::Baking { batches, .. } => {
                let (status, mut fields) = complete(&json!({"batches": *batches}));
                fields["statusMessage"] = json!(format!("batch {batches} of {batches}"));
                (status, fields)
            }
            Self::Asking => {
                let schema = json!({
                    "type": "object",
                    "properties": {"taste": {"type": "string", "enum": ["sweet", "salty"]}},
                    "required": ["taste"],
                });
                let form = json!({"mode": "form", "message": "Sweet or salty?", "requestedSchema": schema});
                let request = json!({"method": "elicitation/create", "params": form});
                (
                    "input_required",
                    json!({"inputRequests": {"ask-0": request}}),
                )
            }
            Self::Chosen(snack) => complete(&json!({"snack": *snack})),
            Self::Cancelled => ("cancelled", json!({})),
        };
        fields["taskId"] = json!(id);
        task(status, &fields)
    }
}

fn call(request: &Received) -> Script {
    let params = &request.json()["params"];
    let context = request.context();
    let structured = match params["name"].as_str().unwrap() {
        "snack_menu" => {
            let mut menu = json!({
                "choices": ["popcorn", "fruit", "pretzels"],
                "pup": {
                    "fields": [{"label": "Choices", "value": "popcorn, fruit, pretzels"}],
                    "actions": [{
                        "id": "save_fruit", "label": "Save fruit", "tool": "save_snack",
                        "arguments": {"snack": "fruit"},
                    }],
                },
            });
            if let Some(greeting) = context["settings"].get("greeting") {
                menu["greeting"] = greeting.clone();
            }
            menu
        }
        "save_snack" if params["arguments"]["snack"] == "fruit" => json!({"saved": "fruit"}),
        "quote_request" => json!({
            "content": context["userRequest"]["content"],
            "messageId": context["userRequest"]["messageId"],
        }),
        _ => {
            let error = json!({"code": -32602, "message": "snack: must be one of popcorn, fruit, pretzels"});
            return Script::error(request, 400, &error);
        }
    };
    let result = json!({
        "resultType": "complete",
        "content": [{"type": "text", "text": structured.to_string()}],
        "structuredContent": structured,
    });
    Script::result(request, &result)
}

fn manifest() -> Value {
    json!({
        "manifestVersion": 1,
        "protocolVersion": "2026-07-28",
        "id": "snack_club",
        "name": "Snack Club",
        "author": "Example author",
        "description": "Choose a snack and save your preference.",
        "summary": "List, choose and bake snacks, or save your preference.",
        "instructions": INSTRUCTIONS,
        "endpoints": {
            "challenge": "https://snacks.example.com/challenge",
            "mcp": "https://snacks.example.com/mcp",
            "events": "https://snacks.example.com/events",
        },
        "tools": [
            {"name": "snack_menu", "readOnly": true},
            {"name": "save_snack"},
            {"name": "forget_snack", "alwaysAsk": true},
            {"name": "quote_request", "readOnly": true, "userRequest": true},
            {"name": "choose_snack", "readOnly": true},
            {"name": "bake_snacks"},
        ],
        "commands": [{"name": "snacks", "description": "See available snacks", "tool": "snack_menu"}],
        "settings": [
            {"key": "greeting", "type": "text", "label": "Greeting"},
            {"key": "menu_note", "type": "longText", "label": "Menu note"},
        ],
        "events": ["member.joined"],
    })
}

fn discovery() -> Value {
    json!({
        "resultType": "complete",
        "supportedVersions": ["2026-07-28"],
        "capabilities": {"tools": {}, "extensions": {"io.modelcontextprotocol/tasks": {}}},
        "instructions": INSTRUCTIONS,
        "_meta": {"io.modelcontextprotocol/serverInfo": {"name": "snack_club", "version": "0.1.0"}},
    })
}

fn tools() -> Value {
    let tool = |name: &str, title: &str, description: &str, properties: Value| {
        let required: Vec<&String> = properties.as_object().unwrap().keys().collect();
        json!({
            "name": name, "title": title, "description": description,
            "inputSchema": {"type": "object", "properties": properties, "required": required},
        })
    };
    let snack = json!({
        "type": "string", "enum": ["popcorn", "fruit", "pretzels"], "description": "The snack to save.",
    });
    let batches = json!({"type": "integer", "description": "How many batches to bake."});
    json!({"resultType": "complete", "tools": [
        tool(
            "snack_menu",
            "See the snacks",
            "Lists the snacks there are, how often each is preferred, and the asker's own preference.",
            json!({}),
        ),
        tool(
            "save_snack",
            "Save your snack preference",
            "Saves the asker's snack preference.",
            json!({"snack": snack}),
        ),
        tool(
            "forget_snack",
            "Forget your snack preference",
            "Deletes the asker's snack preference. It can't be brought back.",
            json!({}),
        ),
        tool(
            "quote_request",
            "Quote your request",
            "Repeats the asker's own message, word for word.",
            json!({}),
        ),
        tool("choose_snack", "Choose a snack", "Help the asker pick a snack.", json!({})),
        tool(
            "bake_snacks",
            "Bake snacks",
            "Bakes snacks for the stock, batch by batch, and says how far it is.",
            json!({"batches": batches}),
        ),
    ]})
}
