//! Event handlers, and what they answer.

use std::{marker::PhantomData, sync::Arc};

use serde_json::{Value, json};

use super::{error::ToolError, handler::Handler};
use crate::{
    context::{Event, EventContext},
    marker::{BoxFuture, MaybeSend},
    presentation::Presentation,
};

/// The argument lists of an event's handler.
#[diagnostic::on_unimplemented(
    message = "an event's handler can't be called with `{Self}`",
    label = "the arguments of an event's handler are `()`, `(EventContext)`, `(Event)` or `(EventContext, Event)`"
)]
pub trait EventArgs: Sized + 'static {
    #[doc(hidden)]
    fn assemble(context: EventContext, event: Event) -> Self;
}

impl EventArgs for () {
    fn assemble(_: EventContext, _: Event) {}
}

impl EventArgs for (EventContext,) {
    fn assemble(context: EventContext, _: Event) -> Self {
        (context,)
    }
}

impl EventArgs for (Event,) {
    fn assemble(_: EventContext, event: Event) -> Self {
        (event,)
    }
}

impl EventArgs for (EventContext, Event) {
    fn assemble(context: EventContext, event: Event) -> Self {
        (context, event)
    }
}

/// What an event's handler can return: a `Result` of `()`, a [`Presentation`], or an `Option` of one.
#[diagnostic::on_unimplemented(
    message = "`{Self}` can't be the answer to an event",
    label = "an event's handler returns `Result<T, ToolError>`, where `T` is `()`, `Presentation` or `Option<Presentation>`"
)]
pub trait EventResult {
    #[doc(hidden)]
    fn into_answer(self) -> Result<Value, ToolError>;
}

impl<E: Into<ToolError>> EventResult for Result<(), E> {
    fn into_answer(self) -> Result<Value, ToolError> {
        self.map(|()| json!({})).map_err(Into::into)
    }
}

impl<E: Into<ToolError>> EventResult for Result<Presentation, E> {
    fn into_answer(self) -> Result<Value, ToolError> {
        self.map_err(Into::into).and_then(|shown| presented(&shown))
    }
}

impl<E: Into<ToolError>> EventResult for Result<Option<Presentation>, E> {
    fn into_answer(self) -> Result<Value, ToolError> {
        self.map_err(Into::into)?
            .as_ref()
            .map_or_else(|| Ok(json!({})), presented)
    }
}

fn presented(shown: &Presentation) -> Result<Value, ToolError> {
    Ok(json!({ "presentation": serde_json::to_value(shown).map_err(ToolError::failed)? }))
}

/// A handler behind its types.
pub(crate) trait Handle: Send + Sync {
    fn handle(
        &self,
        context: EventContext,
        event: Event,
    ) -> BoxFuture<'static, Result<Value, ToolError>>;
}

pub(crate) fn handle<M, H>(handler: H) -> Arc<dyn Handle>
where
    H: Handler<M>,
    M: EventArgs,
    H::Output: EventResult,
    H::Future: MaybeSend,
{
    Arc::new(Typed {
        handler: Arc::new(handler),
        args: PhantomData::<fn(M)>,
    })
}

struct Typed<H, M> {
    handler: Arc<H>,
    args: PhantomData<fn(M)>,
}

impl<H, M> Handle for Typed<H, M>
where
    H: Handler<M>,
    M: EventArgs,
    H::Output: EventResult,
    H::Future: MaybeSend,
{
    fn handle(
        &self,
        context: EventContext,
        event: Event,
    ) -> BoxFuture<'static, Result<Value, ToolError>> {
        let handler = Arc::clone(&self.handler);
        Box::pin(async move {
            handler
                .call(M::assemble(context, event))
                .await
                .into_answer()
        })
    }
}
