//! Tasks: handed to the background function by the HTTP function, and run there.

mod function;
mod handing;
#[cfg(feature = "timers")]
mod timers;

pub(crate) use self::{
    function::BackgroundFunction,
    handing::{Hand, Idle},
};
