mod fixture;
mod flow;
mod protocol;
#[cfg(not(target_arch = "wasm32"))]
mod shapes;
