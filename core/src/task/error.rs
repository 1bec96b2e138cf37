//! How the operations of a task fail.

/// Why a question has no answer.
///
/// `?` in a task's function makes a declined or dismissed question a [rejection](crate::extension::ToolError::reject),
/// which ends the task with these words; the others are failures.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum AskError {
    /// The asker said no.
    #[error("the question was declined")]
    Declined,
    /// The asker closed it without a choice. (MCP calls that `cancel`.)
    #[error("the question was dismissed")]
    Dismissed,
    /// The tool does not name the type with [`asks`](crate::extension::Tool::asks).
    #[error("`{type_name}` can't be asked for: name it with `.asks::<{type_name}>()` on the tool")]
    Unnamed {
        /// The type.
        type_name: &'static str,
    },
    /// The question is too long.
    #[error("the question and its form have {bytes} bytes; 16384 are allowed")]
    TooLarge {
        /// How many bytes it has.
        bytes: usize,
    },
    /// It was asked in the work of a step.
    #[error("a step can't ask: end it, and ask after it")]
    InStep,
}

impl AskError {
    /// Whether it was a person who said no.
    #[must_use]
    pub const fn is_refusal(&self) -> bool {
        matches!(self, Self::Declined | Self::Dismissed)
    }
}

/// Why a task did not pause.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum SleepError {
    /// It would not wake within its time.
    #[error("the pause would last until after the task's end: give the tool a longer `ttl`")]
    PastEnd,
    /// It was asked for in the work of a step.
    #[error("a step can't pause the task: end it, and pause after it")]
    InStep,
}

/// Why a step has no result of its own.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
pub(super) enum StepError {
    #[error("the step failed; the log of the run that did it says why")]
    Failed,
    #[error("the step's result can't be written as JSON")]
    NotJson,
    #[error("the step's result can't be read back from the JSON that it is written as")]
    NotReadBack,
    #[error(
        "the step's result has {bytes} bytes; {} are allowed",
        super::context::MAX_STEP_BYTES
    )]
    TooLarge { bytes: usize },
    #[error("the step's name has {bytes} bytes; 128 are allowed")]
    Name { bytes: usize },
    #[error("a step can't hold another: end it, and begin the other after it")]
    InStep,
}
