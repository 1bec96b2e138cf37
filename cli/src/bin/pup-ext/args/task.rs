//! The command line of what is about tasks.

use std::time::Duration;

use clap::{Args as ClapArgs, Subcommand};

use super::{AskerArgs, RequestArgs, seconds};

#[derive(Debug, Subcommand)]
pub(crate) enum TaskCommand {
    /// Ask how a task stands (tasks/get)
    Get {
        #[command(flatten)]
        task: TaskArgs,
        #[command(flatten)]
        request: RequestArgs,
    },
    /// Answer what a task asks (tasks/update)
    Answer(AnswerArgs),
    /// Follow a task until it ends, and answer what it asks
    Watch {
        #[command(flatten)]
        task: TaskArgs,
        #[command(flatten)]
        follow: FollowArgs,
    },
    /// Ask for a task to end (tasks/cancel), which pup itself never does
    Cancel {
        #[command(flatten)]
        task: TaskArgs,
        #[command(flatten)]
        request: RequestArgs,
    },
}

/// Which task, and for whom.
#[derive(Debug, ClapArgs)]
pub(crate) struct TaskArgs {
    /// The task's id
    #[arg(value_name = "ID")]
    pub(crate) id: String,

    /// The callId of the call that made the task; pup sends it with every request about the task
    #[arg(long, value_name = "ID")]
    pub(crate) call_id: Option<String>,

    /// Ask from this channel
    #[arg(long, value_name = "ID", default_value = "local-channel")]
    pub(crate) channel: String,

    #[command(flatten)]
    pub(crate) asker: AskerArgs,
}

#[derive(Debug, ClapArgs)]
pub(crate) struct AnswerArgs {
    #[command(flatten)]
    pub(crate) task: TaskArgs,

    /// The key of a question, and its answer: a JSON object by the question's schema; `-` reads it from
    /// standard input, `@FILE` from a file. May be given several times
    #[arg(
        value_name = "KEY JSON",
        num_args = 0..,
        required_unless_present_any = ["decline", "cancel_input"]
    )]
    pub(crate) answers: Vec<String>,

    /// Say no to the question under this key; may be given several times
    #[arg(long, value_name = "KEY")]
    pub(crate) decline: Vec<String>,

    /// Dismiss the question under this key without a choice; may be given several times
    #[arg(long, value_name = "KEY")]
    pub(crate) cancel_input: Vec<String>,

    #[command(flatten)]
    pub(crate) request: RequestArgs,
}

/// How a task is followed.
#[derive(Debug, ClapArgs)]
pub(crate) struct FollowArgs {
    /// Stop following the task after this many seconds; those at the terminal's questions do not count
    #[arg(long, value_name = "SECONDS", value_parser = seconds)]
    pub(crate) timeout: Option<Duration>,

    /// Ask what the task asks even where there is no terminal: questions on standard error, answers from
    /// standard input, one a line
    #[arg(long, conflicts_with = "no_input")]
    pub(crate) input: bool,

    /// Ask nothing, even at a terminal: stop when the task requires input
    #[arg(long)]
    pub(crate) no_input: bool,
}

impl FollowArgs {
    /// An option that was given, if any was.
    pub(crate) fn given(&self) -> Option<&'static str> {
        [
            (self.timeout.is_some(), "--timeout"),
            (self.input, "--input"),
            (self.no_input, "--no-input"),
        ]
        .into_iter()
        .find_map(|(given, name)| given.then_some(name))
    }
}
