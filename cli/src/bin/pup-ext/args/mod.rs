//! The command line.

mod task;

pub(crate) use task::{AnswerArgs, FollowArgs, TaskArgs, TaskCommand};

use std::{fmt, path::PathBuf, time::Duration};

use clap::{Args as ClapArgs, Parser, Subcommand, builder::styling};
use zeroize::Zeroizing;

pub(crate) const DEFAULT_URL: &str = "http://127.0.0.1:8787";
pub(crate) const DEFAULT_ASKER: &str = "local-asker";
pub(crate) const DEFAULT_INSTALLATION: &str = "local-installation";

const STYLES: styling::Styles = styling::Styles::styled()
    .header(styling::AnsiColor::Green.on_default().bold())
    .usage(styling::AnsiColor::Green.on_default().bold())
    .literal(styling::AnsiColor::Cyan.on_default().bold())
    .placeholder(styling::AnsiColor::Cyan.on_default());

// Read by hand, so that a file can be named while the variable is set, and so that no message shows it.
const SECRET_HELP: &str = "The signing secret, `whsec_…` [env: PUP_SIGNING_SECRET]. Other users of this machine \
                           can see a command's arguments: better the environment, or --secret-file";

const EXIT_STATUSES: &str = "\
Exit status:
  0  the extension did what was asked
  1  it refused, failed or rejected, or answered what pup would not take
     (a redirect, a compressed body, more than 1 MiB, something other than the protocol's JSON)
  2  nothing was sent: the command line or this machine does not allow it
  3  no whole answer came: the extension can't be reached, the connection broke, the deadline passed
  4  the task waits for input, and nobody is here to ask
  5  the task goes on after the time that it was to be followed for";

/// Act as pup against an extension: sign and send what pup would, and take only what pup would take.
#[derive(Debug, Parser)]
#[command(name = "pup-ext", version, after_help = EXIT_STATUSES, styles = STYLES)]
pub(crate) struct Args {
    #[command(flatten)]
    pub(crate) global: Global,
    #[command(subcommand)]
    pub(crate) command: Command,
}

#[derive(Debug, ClapArgs)]
#[command(next_help_heading = "Every command's options")]
pub(crate) struct Global {
    /// The extension's base URL, under which /mcp stands; or its manifest's URL
    #[arg(
        long,
        global = true,
        env = "PUP_URL",
        default_value = DEFAULT_URL
    )]
    pub(crate) url: String,

    #[arg(long, global = true, help = SECRET_HELP, value_parser = Hidden::parse, conflicts_with = "secret_file")]
    pub(crate) secret: Option<Hidden>,

    /// A file that holds the signing secret
    #[arg(long, global = true, value_name = "FILE")]
    pub(crate) secret_file: Option<PathBuf>,

    /// Print one JSON document instead of text
    #[arg(long, global = true)]
    pub(crate) json: bool,

    /// Wait this many seconds for an answer; pup waits five
    #[arg(long, global = true, value_name = "SECONDS", default_value = "5", value_parser = seconds)]
    pub(crate) deadline: Duration,

    /// Sign by a clock that goes this many seconds fast, or slow where negative
    #[arg(
        long,
        global = true,
        value_name = "SECONDS",
        default_value_t = 0,
        allow_negative_numbers = true
    )]
    pub(crate) skew: i64,

    /// Allow plain http to other machines, which pup would refuse
    #[arg(long, global = true)]
    pub(crate) allow_http: bool,
}

#[derive(Debug, Subcommand)]
pub(crate) enum Command {
    /// Make a signing secret from the system's randomness, and print it
    Secret,
    /// Get the manifest
    Manifest,
    /// Challenge the extension to send a text back
    Challenge {
        /// The text; a random one when left out
        text: Option<String>,
        #[command(flatten)]
        request: RequestArgs,
    },
    /// Ask what the extension is and can do (server/discover)
    Discover {
        #[command(flatten)]
        asker: AskerArgs,
        #[command(flatten)]
        request: RequestArgs,
    },
    /// List the tools (tools/list), all pages
    Tools {
        #[command(flatten)]
        asker: AskerArgs,
        #[command(flatten)]
        request: RequestArgs,
    },
    /// Call a tool (tools/call)
    Call(CallArgs),
    /// Ask how a task stands, answer what it asks, follow it, or ask for its end
    #[command(subcommand)]
    Task(TaskCommand),
    /// Deliver an event about a member
    Event(EventArgs),
}

#[derive(Debug, ClapArgs)]
pub(crate) struct CallArgs {
    /// The tool's name
    pub(crate) tool: String,

    /// The arguments, a JSON object; `-` reads it from standard input, `@FILE` from a file
    #[arg(value_name = "JSON", default_value = "{}")]
    pub(crate) arguments: String,

    /// Name the call: the same id again is a retry of the same call. Fresh when left out
    #[arg(long, value_name = "ID", conflicts_with = "no_call_id")]
    pub(crate) call_id: Option<String>,

    /// Send no callId, so that the extension can't know a retry
    #[arg(long)]
    pub(crate) no_call_id: bool,

    /// Call from this channel
    #[arg(long, value_name = "ID", default_value = "local-channel")]
    pub(crate) channel: String,

    /// Send the member's message along, as to a tool that declares userRequest
    #[arg(long, value_name = "TEXT")]
    pub(crate) user_request: Option<String>,

    /// The id of that message
    #[arg(
        long,
        value_name = "ID",
        requires = "user_request",
        default_value = "local-message"
    )]
    pub(crate) user_request_id: String,

    /// The channel of that message; --channel when left out
    #[arg(long, value_name = "ID", requires = "user_request")]
    pub(crate) user_request_channel: Option<String>,

    /// Where the call goes on as a task, follow it until it ends
    #[arg(long)]
    pub(crate) watch: bool,

    #[command(flatten)]
    pub(crate) follow: FollowArgs,

    #[command(flatten)]
    pub(crate) asker: AskerArgs,
    #[command(flatten)]
    pub(crate) request: RequestArgs,
}

#[derive(Debug, ClapArgs)]
pub(crate) struct EventArgs {
    /// The event: member.joined or member.left, or another for trying what the extension does with it
    #[arg(value_name = "NAME")]
    pub(crate) kind: String,

    /// The member that the event is about
    #[arg(long, value_name = "ID")]
    pub(crate) member: String,

    /// Name the delivery: the same id again is a retry. Fresh when left out
    #[arg(long, value_name = "ID")]
    pub(crate) delivery_id: Option<String>,

    /// Name the event. Made of the delivery's id when left out
    #[arg(long, value_name = "ID")]
    pub(crate) event_id: Option<String>,

    #[command(flatten)]
    pub(crate) installation: InstallationArgs,
}

#[derive(Debug, ClapArgs)]
pub(crate) struct RequestArgs {
    /// Name the request: the same id again is a replay, which is refused. Fresh when left out
    #[arg(long, value_name = "ID")]
    pub(crate) webhook_id: Option<String>,
}

#[derive(Clone, Debug, ClapArgs)]
pub(crate) struct AskerArgs {
    /// Ask as this member
    #[arg(long, value_name = "ID", default_value = DEFAULT_ASKER)]
    pub(crate) asker: String,

    #[command(flatten)]
    pub(crate) installation: InstallationArgs,
}

#[derive(Clone, Debug, ClapArgs)]
pub(crate) struct InstallationArgs {
    /// Speak for this installation
    #[arg(long, value_name = "ID", default_value = DEFAULT_INSTALLATION)]
    pub(crate) installation: String,

    /// Set a setting of the installation; may be given several times. A value that is a JSON boolean, number
    /// or text is sent as that, any other as the text that it is
    #[arg(long = "setting", value_name = "KEY=VALUE")]
    pub(crate) settings: Vec<String>,
}

/// A text that no error message and no `Debug` shows, and that is wiped when dropped.
#[derive(Clone)]
pub(crate) struct Hidden(pub(crate) Zeroizing<String>);

impl Hidden {
    #[expect(
        clippy::unnecessary_wraps,
        reason = "the form of a value parser; the secret is checked later, without being shown"
    )]
    fn parse(text: &str) -> Result<Self, std::convert::Infallible> {
        Ok(Self(Zeroizing::new(text.to_owned())))
    }
}

impl fmt::Debug for Hidden {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("Hidden")
    }
}

fn seconds(text: &str) -> Result<Duration, String> {
    let duration = text
        .parse()
        .ok()
        .and_then(|seconds| Duration::try_from_secs_f64(seconds).ok());
    let positive = duration.filter(|duration| !duration.is_zero());
    positive.ok_or_else(|| "give a number of seconds above zero".to_owned())
}

#[cfg(test)]
mod tests {
    use clap::CommandFactory as _;

    use super::*;

    #[test]
    fn the_command_line_holds_together() {
        Args::command().debug_assert();
    }

    #[test]
    fn a_secret_is_in_no_debug_text() {
        let args = Args::parse_from(["pup-ext", "--secret", "whsec_private", "manifest"]);
        assert!(!format!("{args:?}").contains("private"));
    }

    #[test]
    fn deadlines_are_above_zero() {
        assert_eq!(seconds("0.25"), Ok(Duration::from_millis(250)));
        for text in ["0", "-1", "NaN", "inf", "five", ""] {
            assert!(seconds(text).is_err(), "{text}");
        }
    }
}
