//! Runs a [pup extension](pup_extension) on AWS Lambda.
//!
//! [`run()`] is a whole function: it takes its settings from the environment, keeps its data in a DynamoDB table,
//! answers the events of a Function URL or of API Gateway, and runs tasks in a second function of the same package.

mod answer;
mod aws;
mod background;
mod event;
mod function;
mod log;
mod outbound;
mod path;
mod run;
mod runtime;
#[cfg(feature = "secrets-manager")]
mod secrets;
mod settings;
mod signature;
mod store;

pub use self::{
    run::run,
    runtime::LambdaRuntime,
    settings::{
        BACKGROUND_FUNCTION, ROLE, SIGNING_SECRET_ARN, SettingsError, TABLE, TIMER_GROUP,
        TIMER_ROLE_ARN,
    },
    store::DynamoStore,
};
