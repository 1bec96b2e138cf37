mod changed;
mod fixture;
mod flow;
mod gates;
mod limits;
mod review;
#[cfg(not(target_arch = "wasm32"))]
mod shapes;
