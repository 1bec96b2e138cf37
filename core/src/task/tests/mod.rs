mod changed;
mod crashes;
mod fixture;
mod flow;
mod gates;
mod limits;
#[cfg(panic = "unwind")]
mod panics;
mod protocol;
mod races;
mod review;
#[cfg(not(target_arch = "wasm32"))]
mod shapes;
