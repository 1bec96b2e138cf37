//! The commands.

use pup_extension_cli::{
    Answer, CallOptions, Client, EventOptions, Fields, Outcome, ToolList, ToolResult, UserRequest,
};
use serde_json::{Value, json};

use crate::{
    args::{Args, CallArgs, Command, EventArgs, Global},
    failure::{Failure, Kind},
    input, render,
    report::Report,
    task::{self, Next, Session},
};

pub(crate) async fn run(Args { global, command }: Args) -> Result<Report, Failure> {
    match command {
        Command::Secret => secret(),
        Command::Manifest => manifest(&input::client_without_secret(&global)?.build()?).await,
        Command::Challenge { text, request } => {
            let client = input::name_request(input::client(&global)?, request).build()?;
            challenge(&client, text).await
        }
        Command::Discover { asker, request } => {
            let builder = input::speak_for_asker(input::client(&global)?, asker)?;
            discover(&input::name_request(builder, request).build()?).await
        }
        Command::Tools { asker, request } => {
            let builder = input::speak_for_asker(input::client(&global)?, asker)?;
            tools(&input::name_request(builder, request).build()?).await
        }
        Command::Call(args) => call(&global, args).await,
        Command::Task(command) => task::run(&global, command).await,
        Command::Event(args) => event(&global, args).await,
    }
}

fn secret() -> Result<Report, Failure> {
    let secret = input::fresh_secret()?;
    let text = secret.reveal();
    Ok(Report::new(text.to_string(), json!({"secret": *text})))
}

async fn manifest(client: &Client) -> Result<Report, Failure> {
    let answer = client.manifest().await?;
    let outcome = match answer.object() {
        Ok(manifest) => Ok(Report::new(
            render::manifest(&manifest),
            Value::Object(manifest),
        )),
        Err(error) => Err(Failure::of_answer(&answer, &error)),
    };
    Ok(Report::of(&answer, outcome))
}

async fn challenge(client: &Client, text: Option<String>) -> Result<Report, Failure> {
    let text = match text {
        Some(text) => text,
        None => random_text()?,
    };
    let answer = client.challenge(&text).await?;
    let outcome = match answer.challenge() {
        Ok(echo) if echo == text => Ok(Report::new(
            render::challenge(&echo),
            json!({"challenge": echo}),
        )),
        Ok(echo) => {
            let failure = Failure::new(
                Kind::Invalid,
                "the extension sent another text back than the challenge's",
            );
            Ok(Report::new(String::new(), json!({"challenge": echo})).but_failed(failure))
        }
        Err(error) => Err(Failure::of_answer(&answer, &error)),
    };
    Ok(Report::of(&answer, outcome))
}

async fn discover(client: &Client) -> Result<Report, Failure> {
    let answer = client.discover().await?;
    let outcome = match answer.result() {
        Ok(result) => Ok(Report::new(
            render::discovery(&result),
            Value::Object(result),
        )),
        Err(error) => Err(Failure::of_answer(&answer, &error)),
    };
    Ok(Report::of(&answer, outcome))
}

async fn tools(client: &Client) -> Result<Report, Failure> {
    let answers = client.list_all_tools().await?;
    let mut all = ToolList::default();
    for answer in &answers {
        match answer.tool_list() {
            Ok(page) => {
                all.tools.extend(page.tools);
                all.excluded.extend(page.excluded);
                all.next_cursor = page.next_cursor;
            }
            Err(error) => return Ok(Report::of(answer, Err(Failure::of_answer(answer, &error)))),
        }
    }
    let definitions: Vec<_> = all.tools.iter().map(|tool| tool.as_map()).collect();
    let excluded: Vec<_> = all
        .excluded
        .iter()
        .map(|tool| json!({"name": tool.name, "reason": tool.reason}))
        .collect();
    let report = Report::new(
        render::tools(&all),
        json!({"tools": definitions, "excluded": excluded}),
    );
    let problem = if let Some(tool) = all.excluded.first() {
        Some(format!(
            "pup can't use {} of the tools: {:?}: {}",
            all.excluded.len(),
            tool.name,
            tool.reason
        ))
    } else if all.next_cursor.is_some() {
        Some(format!("the list has more than {} pages", answers.len()))
    } else {
        None
    };
    let report = match problem {
        Some(problem) => report.but_failed(Failure::new(Kind::Invalid, problem)),
        None => report,
    };
    Ok(match answers.last() {
        Some(answer) => Report::of(answer, Ok(report)),
        None => report,
    })
}

async fn call(global: &Global, args: CallArgs) -> Result<Report, Failure> {
    let arguments = input::arguments(&args.arguments)?;
    if let Some(option) = args.follow.given().filter(|_| !args.watch) {
        return Err(Failure::usage(format!("{option} goes with --watch")));
    }
    let asker = args.asker.clone();
    let builder =
        input::speak_for_asker(input::client(global)?, args.asker)?.channel(&args.channel);
    let client = builder.build()?;
    let mut options = CallOptions::new();
    // The id is this call's alone, and not that of the requests about its task.
    if let Some(id) = args.request.webhook_id {
        options = options.webhook_id(id);
    }
    if args.no_call_id {
        options = options.without_call_id();
    } else if let Some(id) = args.call_id {
        options = options.call_id(id);
    }
    if let Some(content) = args.user_request {
        let channel_id = args.user_request_channel.unwrap_or(args.channel);
        options = options.user_request(UserRequest {
            message_id: args.user_request_id,
            channel_id,
            content,
        });
    }
    let answer = client.call(&args.tool, arguments, options).await?;
    let outcome = match answer.outcome() {
        Ok(Outcome::Complete(result)) => Ok(completed(&result)),
        Ok(Outcome::Task(task)) => {
            let call_id = answer.request().call_id().map(str::to_owned);
            let session = Session {
                client,
                next: Next::new(global, &asker, &task.id, call_id.as_deref()),
                id: task.id.clone(),
                call_id,
            };
            if args.watch {
                let created = Some((answer, task));
                return task::watch(&session, created, &args.follow, global.json).await;
            }
            let report = Report::new(render::task(&task), json!(task.as_map()));
            Ok(report.next(session.next.watch()))
        }
        Ok(Outcome::InputRequired(request)) => Ok(asked_too_early(&request)),
        Err(error) => Err(Failure::of_answer(&answer, &error)),
    };
    Ok(Report::of(&answer, outcome))
}

fn completed(result: &ToolResult) -> Report {
    let report = Report::new(render::result(result), json!(result.as_map()));
    if result.is_error() {
        report.but_failed(Failure::rejection())
    } else {
        report
    }
}

fn asked_too_early(request: &Fields) -> Report {
    let failure = Failure::new(Kind::Invalid, "the extension asks for input without a task")
        .hint("pup answers the questions of tasks alone");
    Report::new(String::new(), json!(request.as_map())).but_failed(failure)
}

async fn event(global: &Global, args: EventArgs) -> Result<Report, Failure> {
    let client =
        input::speak_for_installation(input::client(global)?, args.installation)?.build()?;
    let mut options = EventOptions::new();
    if let Some(id) = args.delivery_id {
        options = options.delivery_id(id);
    }
    if let Some(id) = args.event_id {
        options = options.event_id(id);
    }
    let answer = client.event(&args.kind, &args.member, options).await?;
    Ok(Report::of(&answer, delivered(&answer)))
}

fn delivered(answer: &Answer) -> Result<Report, Failure> {
    match (answer.presentation(), answer.object()) {
        (Ok(presentation), Ok(object)) => Ok(Report::new(
            render::delivery(presentation.as_ref()),
            Value::Object(object),
        )),
        (Err(error), _) | (_, Err(error)) => Err(Failure::of_answer(answer, &error)),
    }
}

fn random_text() -> Result<String, Failure> {
    let mut bytes = [0; 16];
    getrandom::fill(&mut bytes)
        .map_err(|error| Failure::usage(format!("the system gave no random bytes: {error}")))?;
    Ok(format!("{:032x}", u128::from_be_bytes(bytes)))
}
