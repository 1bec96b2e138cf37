//! Which functions can be handlers. One impl per number of arguments, bounded by nothing but `Fn` and `Future`:
//! all else is asked for where a handler is used, so that the compiler names the true cause when one doesn't fit.

use std::future::Future;

/// An async function of these arguments. Implemented for functions and closures; not to be implemented by hand.
#[diagnostic::on_unimplemented(
    message = "this function can't be a handler",
    label = "not an async function of a context and an input",
    note = "a tool's handler is `async fn(ToolContext, Input) -> Result<Output, ToolError>`, where either or both arguments may be left out",
    note = "an event's handler is `async fn(EventContext, Event) -> Result<EventReply, ToolError>`"
)]
pub trait Handler<Args>: Send + Sync + 'static {
    /// What it returns.
    type Output;
    /// The future that returns it.
    type Future: Future<Output = Self::Output> + 'static;

    /// Begins one run.
    fn call(&self, args: Args) -> Self::Future;
}

impl<F, R> Handler<()> for F
where
    F: Fn() -> R + Send + Sync + 'static,
    R: Future + 'static,
{
    type Output = R::Output;
    type Future = R;

    fn call(&self, (): ()) -> R {
        self()
    }
}

impl<F, A, R> Handler<(A,)> for F
where
    F: Fn(A) -> R + Send + Sync + 'static,
    R: Future + 'static,
{
    type Output = R::Output;
    type Future = R;

    fn call(&self, (a,): (A,)) -> R {
        self(a)
    }
}

impl<F, A, B, R> Handler<(A, B)> for F
where
    F: Fn(A, B) -> R + Send + Sync + 'static,
    R: Future + 'static,
{
    type Output = R::Output;
    type Future = R;

    fn call(&self, (a, b): (A, B)) -> R {
        self(a, b)
    }
}
