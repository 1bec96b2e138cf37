//! What is about tasks.

mod field;
mod next;
mod pace;
mod progress;
mod prompt;
mod watch;

pub(crate) use next::Next;
pub(crate) use watch::watch;

use std::collections::BTreeSet;

use pup_extension_cli::{Answer, Client, InputResponses, TaskOptions, TaskState};
use serde_json::{Value, json};

use crate::{
    args::{AnswerArgs, Global, RequestArgs, TaskArgs, TaskCommand},
    failure::Failure,
    input, render,
    report::Report,
};

/// A task and whom to ask about it.
pub(crate) struct Session {
    pub(crate) client: Client,
    pub(crate) id: String,
    pub(crate) call_id: Option<String>,
    /// What to try next.
    pub(crate) next: Next,
}

pub(crate) async fn run(global: &Global, command: TaskCommand) -> Result<Report, Failure> {
    match command {
        TaskCommand::Get { task, request } => get(&Session::new(global, task)?, request).await,
        TaskCommand::Answer(args) => answer(global, args).await,
        TaskCommand::Watch { task, follow } => {
            watch(&Session::new(global, task)?, None, &follow, global.json).await
        }
        TaskCommand::Cancel { task, request } => {
            cancel(&Session::new(global, task)?, request).await
        }
    }
}

impl Session {
    fn new(global: &Global, args: TaskArgs) -> Result<Self, Failure> {
        let next = Next::new(global, &args.asker, &args.id, args.call_id.as_deref());
        let builder =
            input::speak_for_asker(input::client(global)?, args.asker)?.channel(args.channel);
        Ok(Self {
            client: builder.build()?,
            id: args.id,
            call_id: args.call_id,
            next,
        })
    }

    /// What names a fresh request about the task.
    pub(crate) fn options(&self) -> TaskOptions {
        match &self.call_id {
            Some(id) => TaskOptions::new().call_id(id),
            None => TaskOptions::new(),
        }
    }

    fn named(&self, request: RequestArgs) -> TaskOptions {
        match request.webhook_id {
            Some(id) => self.options().webhook_id(id),
            None => self.options(),
        }
    }
}

async fn get(session: &Session, request: RequestArgs) -> Result<Report, Failure> {
    let answer = session
        .client
        .get_task(&session.id, session.named(request))
        .await?;
    let outcome = match answer.task() {
        Ok(detailed) => {
            let report = Report::new(
                render::detailed_task(&detailed),
                json!(detailed.task.as_map()),
            );
            Ok(match &detailed.state {
                TaskState::Working => report.next(session.next.watch()),
                TaskState::InputRequired(requests) => report.next(session.next.answer(requests)),
                TaskState::Completed(_) | TaskState::Failed(_) | TaskState::Cancelled => report,
            })
        }
        Err(error) => Err(Failure::of_answer(&answer, &error)),
    };
    Ok(Report::of(&answer, outcome))
}

async fn answer(global: &Global, args: AnswerArgs) -> Result<Report, Failure> {
    let responses = responses(&args)?;
    let keys: Vec<_> = responses.keys().map(str::to_owned).collect();
    let session = Session::new(global, args.task)?;
    let answer = session
        .client
        .update_task(&session.id, responses, session.named(args.request))
        .await?;
    Ok(acknowledged(&answer, &session, render::answered(&keys)))
}

async fn cancel(session: &Session, request: RequestArgs) -> Result<Report, Failure> {
    let answer = session
        .client
        .cancel_task(&session.id, session.named(request))
        .await?;
    Ok(acknowledged(&answer, session, render::cancelling()))
}

fn acknowledged(answer: &Answer, session: &Session, text: String) -> Report {
    let outcome = match (answer.acknowledged(), answer.result()) {
        (Ok(()), Ok(result)) => {
            Ok(Report::new(text, Value::Object(result)).next(session.next.watch()))
        }
        (Err(error), _) | (_, Err(error)) => Err(Failure::of_answer(answer, &error)),
    };
    Report::of(answer, outcome)
}

/// The answers of the command line, each question once.
fn responses(args: &AnswerArgs) -> Result<InputResponses, Failure> {
    let mut keys = BTreeSet::new();
    let mut once = |key: &str| {
        if keys.insert(key.to_owned()) {
            Ok(key.to_owned())
        } else {
            Err(Failure::usage(format!("{key:?} is answered twice")))
        }
    };
    let mut responses = InputResponses::new();
    for pair in args.answers.chunks(2) {
        let [key, source] = pair else {
            let failure = format!("the question {:?} has no answer after it", pair.concat());
            return Err(Failure::usage(failure).hint(
                "give each as its key and a JSON object, as in taste '{\"taste\": \"sweet\"}'",
            ));
        };
        responses = responses.accept(once(key)?, input::answer(source)?);
    }
    for key in &args.decline {
        responses = responses.decline(once(key)?);
    }
    for key in &args.cancel_input {
        responses = responses.cancel(once(key)?);
    }
    Ok(responses)
}
