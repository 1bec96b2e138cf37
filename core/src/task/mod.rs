//! Long work that outlives its process: a plain `async fn` that is replayed.
//!
//! A call of a [task tool](crate::extension::Tool::task) is answered with a task at once. Its function is run: in the
//! request that created it until its first step, and from then on in the [background](Background). What each of its
//! operations produced is kept in a *journal*, so that after a question, a pause or a crash the function runs again
//! from the top, is told what it was told before, and goes on from there; see [`TaskContext`].
//!
//! In the store a task is
//!
//! - a *head*, `task/<id>`: its state, who runs it, what it asks, and the end of its journal. Everything about the task
//!   moves by this item;
//! - its *origin*, which holds the arguments, and *pages* of a journal that outgrew the head. Both are deleted when it
//!   ends;
//! - an entry `due/<time>/<id>` where somebody has to run it at that time, written in the same commit as the change
//!   that made it due.
//!
//! A run takes a *lease* under a token of its own. An answer, a poll or a cancellation may move the head meanwhile:
//! the run whose token still stands puts its change on top, and one whose token is gone stops. A run that dies leaves
//! its lease to run out, in less than a minute.
//!
//! # Limits
//!
//! | what | at most |
//! |---|---|
//! | arguments, settings and the triggering message, as JSON | 256 KB |
//! | a step's result | 254 KB |
//! | a task's result | 240 KB |
//! | a journal | 4 MB, or some 80 results of more than 16 KB; checked before a step begins and before a pause |
//! | keys of state in a step | 90 |
//! | steps at work at once | 16; others wait for them |
//! | a question with its form | 16 KB |
//! | questions that are outstanding at once | 96 KB |
//! | answers in one `tasks/update` | 64 KB |
//! | a progress message | 1,000 characters |
//! | runs in a row that get nowhere | 5 |

mod background;
mod book;
mod context;
mod due;
mod entry;
mod error;
mod record;
mod replay;
mod requests;
mod runner;
mod start;
#[cfg(test)]
mod tests;
mod wakeful;

pub(crate) use self::{
    background::DynBackground,
    context::Forms,
    requests::{RequestError, Requests},
    start::{Created, NewTask, Tasks},
};
pub use self::{
    background::{Background, BackgroundError, Job, Ran, RunTaskError},
    context::{MAX_STEP_BYTES, StepContext, TaskContext},
    due::{DUE_PREFIX, due},
    error::{AskError, SleepError},
};
