//! Long work that outlives its process.

mod background;
mod due;

pub(crate) use self::background::DynBackground;
pub use self::{
    background::{Background, BackgroundError, Job, Ran, RunTaskError},
    due::{DUE_PREFIX, due},
};
