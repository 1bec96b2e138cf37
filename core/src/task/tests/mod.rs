mod crashes;
mod fixture;
mod flow;
#[cfg(not(target_arch = "wasm32"))]
mod shapes;
