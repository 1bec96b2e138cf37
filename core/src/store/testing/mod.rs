//! Stores for tests (feature `store-suite`): one that fails where it is told to, one that counts.
//!
//! Both wrap any [`Store`](super::Store) and are deterministic.

mod counting;
mod fault;
mod still;

pub(crate) use self::still::Still;
pub use self::{
    counting::{CountingStore, Counts},
    fault::{Fault, FaultStore, Operation, Recorded},
};
