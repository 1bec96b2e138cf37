//! Runs a [pup extension](pup_extension) on AWS Lambda.
mod store;
pub use self::store::DynamoStore;
