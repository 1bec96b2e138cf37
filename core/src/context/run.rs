//! One run of a handler: what all kinds of context share.

use std::{fmt, sync::Arc, time::Duration};

use super::{settings::Settings, steps::Steps};
use crate::{budget::Deadline, ports::Ports, state::Session};

/// Everything that one run of a handler can reach. Contexts are handles to it.
pub(crate) struct Run {
    pub(crate) caller: Caller,
    pub(crate) ports: Ports,
    pub(crate) deadline: Deadline,
    pub(crate) session: Arc<Session>,
    pub(crate) steps: Steps,
}

/// Who asked, where, and by which request.
#[derive(Clone, Debug)]
pub(crate) struct Caller {
    pub(crate) request_id: Arc<str>,
    pub(crate) installation_id: Arc<str>,
    pub(crate) channel_id: Option<Arc<str>>,
    pub(crate) settings: Settings,
    pub(crate) idempotency_key: Arc<str>,
}

impl Run {
    pub(crate) fn remaining(&self) -> Duration {
        self.deadline.handler_remaining(self.ports.now())
    }
}

impl fmt::Debug for Run {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Run")
            .field("caller", &self.caller)
            .finish_non_exhaustive()
    }
}

/// Who asked, where, and by which request: over a method `caller`.
macro_rules! caller_context {
    ($context:ident) => {
        impl $context {
            /// The server on which the extension was installed. Data belongs to it.
            #[must_use]
            pub fn installation_id(&self) -> &str {
                &self.caller().installation_id
            }

            /// The channel, where pup names one.
            #[must_use]
            pub fn channel_id(&self) -> Option<&str> {
                self.caller().channel_id.as_deref()
            }

            /// What the installation's people set for this extension.
            #[must_use]
            pub fn settings(&self) -> &Settings {
                &self.caller().settings
            }

            /// The `webhook-id` of the request: what log lines of this request carry.
            #[must_use]
            pub fn request_id(&self) -> &str {
                &self.caller().request_id
            }
        }
    };
}
pub(crate) use caller_context;

/// State, over a method `session`; and what the platform lends, over a method `ports`.
macro_rules! working_context {
    ($context:ident) => {
        impl $context {
            /// State that all members of the installation share.
            #[must_use]
            pub fn state(&self) -> State {
                State::new(Arc::clone(self.session()), Scope::shared())
            }

            /// State of one member, named by an id that pup vouched for.
            ///
            /// Don't pass an id that came as an argument: arguments are written by a model.
            #[must_use]
            pub fn member_state(&self, member_id: &str) -> State {
                State::new(Arc::clone(self.session()), Scope::of(member_id))
            }

            /// The current time.
            #[must_use]
            pub fn now(&self) -> Timestamp {
                self.ports().now()
            }

            /// 128 random bits from a secure source.
            #[must_use]
            pub fn random(&self) -> u128 {
                self.ports().runtime.dyn_random()
            }

            /// A configuration value or secret of the deployment, by name.
            #[must_use]
            pub fn var(&self, name: &str) -> Option<String> {
                self.ports().runtime.dyn_var(name)
            }
        }
    };
}
pub(crate) use working_context;

/// The methods that the context of every request has, over a field `run: Arc<Run>`.
macro_rules! common_context {
    ($context:ident) => {
        caller_context!($context);
        working_context!($context);

        impl $context {
            fn caller(&self) -> &Caller {
                &self.run.caller
            }

            fn session(&self) -> &Arc<Session> {
                &self.run.session
            }

            fn ports(&self) -> &Ports {
                &self.run.ports
            }

            /// Does something outside at most once, as far as that can be: the result is remembered, and a
            /// later run of the same call or delivery gets it without doing it again.
            ///
            /// A handler may run more than once (after a conflict on state, or when a retry takes over from
            /// a run that died), so what it does outside belongs in a step. If the process dies between the
            /// effect and its record, the step runs again: send [`idempotency_key`](Self::idempotency_key)
            /// along. Steps of one name are told apart by their order. A call without a `callId` remembers
            /// its steps only while it lasts.
            ///
            /// Only `Ok` is remembered. A step that failed and is done again under its name is the next one of
            /// that name; where a conflict then makes the handler run again, the first is done too. To try
            /// again, do so within one step.
            ///
            /// The result is at most 256 KB of JSON. State can't be written in a step,
            /// since a later run leaves its work out: write it after the step, from its result.
            ///
            /// # Errors
            ///
            /// What `work` returned; and a failure when the result can't be kept, or when another request
            /// has taken the run over.
            pub async fn step<T, F, W>(&self, name: &str, work: F) -> Result<T, ToolError>
            where
                T: Serialize + DeserializeOwned,
                F: FnOnce() -> W,
                W: Future<Output = Result<T, ToolError>>,
            {
                self.run
                    .steps
                    .run(&self.run.ports, &self.run.session, name, work)
                    .await
            }

            /// A key for outside services that take one: the same in every run and retry of this call or
            /// delivery, and of no other. (A call without a `callId` has a key of its own.)
            #[must_use]
            pub fn idempotency_key(&self) -> &str {
                &self.run.caller.idempotency_key
            }

            /// Waits. The time counts against the handler's budget.
            pub async fn sleep(&self, duration: Duration) {
                self.run.ports.runtime.dyn_sleep(duration).await;
            }

            /// What is left of the handler's budget. A handler that outlives it is dropped.
            #[must_use]
            pub fn remaining(&self) -> Duration {
                self.run.remaining()
            }

            /// Sends an outbound request, with what is left of the budget as its timeout.
            ///
            /// A response of any status is `Ok`; no redirect is followed.
            ///
            /// # Errors
            ///
            /// When no response arrived; [`HttpError::kind`] tells whether the request may have been acted on.
            pub async fn http(
                &self,
                request: http::Request<Bytes>,
            ) -> Result<http::Response<Bytes>, HttpError> {
                self.run
                    .ports
                    .runtime
                    .dyn_http(request, self.remaining())
                    .await
            }
        }
    };
}
pub(super) use common_context;
