//! The arguments that a tool's handler can take.

use schemars::JsonSchema;
use serde::de::DeserializeOwned;
use serde_json::Value;

use crate::{context::ToolContext, schema, task::TaskContext};

/// The argument lists of a tool's handler: nothing, a context, an input, or both in this order.
#[diagnostic::on_unimplemented(
    message = "a tool can't be called with `{Self}`",
    label = "the arguments of a tool's handler are `()`, `(ToolContext)`, `(Input)` or `(ToolContext, Input)`",
    note = "contexts are taken by value, and an `Input` implements `serde::Deserialize` (owning its data) and `schemars::JsonSchema`"
)]
pub trait ToolArgs: Sized + 'static {
    #[doc(hidden)]
    fn input_schema() -> Value;

    /// The input alone, so that arguments can be refused before anything is claimed.
    #[doc(hidden)]
    type Input: 'static;

    #[doc(hidden)]
    fn parse(arguments: &Value) -> Result<Self::Input, serde_json::Error>;

    #[doc(hidden)]
    fn assemble(context: ToolContext, input: Self::Input) -> Self;
}

impl ToolArgs for () {
    type Input = ();

    fn input_schema() -> Value {
        schema::input_of_unit()
    }

    fn parse(_: &Value) -> Result<(), serde_json::Error> {
        Ok(())
    }

    fn assemble(_: ToolContext, (): ()) {}
}

impl ToolArgs for (ToolContext,) {
    type Input = ();

    fn input_schema() -> Value {
        schema::input_of_unit()
    }

    fn parse(_: &Value) -> Result<(), serde_json::Error> {
        Ok(())
    }

    fn assemble(context: ToolContext, (): ()) -> Self {
        (context,)
    }
}

impl<I: DeserializeOwned + JsonSchema + 'static> ToolArgs for (I,) {
    type Input = I;

    fn input_schema() -> Value {
        schema::input_of::<I>()
    }

    fn parse(arguments: &Value) -> Result<I, serde_json::Error> {
        I::deserialize(arguments)
    }

    fn assemble(_: ToolContext, input: I) -> Self {
        (input,)
    }
}

impl<I: DeserializeOwned + JsonSchema + 'static> ToolArgs for (ToolContext, I) {
    type Input = I;

    fn input_schema() -> Value {
        schema::input_of::<I>()
    }

    fn parse(arguments: &Value) -> Result<I, serde_json::Error> {
        I::deserialize(arguments)
    }

    fn assemble(context: ToolContext, input: I) -> Self {
        (context, input)
    }
}

/// The argument lists of a task's function: a context, or a context and an input, in this order.
#[diagnostic::on_unimplemented(
    message = "a task can't be run with `{Self}`",
    label = "the arguments of a task's function are `(TaskContext)` or `(TaskContext, Input)`",
    note = "the context is taken by value, and an `Input` implements `serde::Deserialize` (owning its data) and `schemars::JsonSchema`"
)]
pub trait TaskArgs: Sized + 'static {
    #[doc(hidden)]
    fn input_schema() -> Value;

    #[doc(hidden)]
    type Input: 'static;

    #[doc(hidden)]
    fn parse(arguments: &Value) -> Result<Self::Input, serde_json::Error>;

    #[doc(hidden)]
    fn assemble(context: TaskContext, input: Self::Input) -> Self;
}

impl TaskArgs for (TaskContext,) {
    type Input = ();

    fn input_schema() -> Value {
        schema::input_of_unit()
    }

    fn parse(_: &Value) -> Result<(), serde_json::Error> {
        Ok(())
    }

    fn assemble(context: TaskContext, (): ()) -> Self {
        (context,)
    }
}

impl<I: DeserializeOwned + JsonSchema + 'static> TaskArgs for (TaskContext, I) {
    type Input = I;

    fn input_schema() -> Value {
        schema::input_of::<I>()
    }

    fn parse(arguments: &Value) -> Result<I, serde_json::Error> {
        I::deserialize(arguments)
    }

    fn assemble(context: TaskContext, input: I) -> Self {
        (context, input)
    }
}
