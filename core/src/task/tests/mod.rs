mod crashes;
mod fixture;
mod flow;
mod races;
#[cfg(not(target_arch = "wasm32"))]
mod shapes;
