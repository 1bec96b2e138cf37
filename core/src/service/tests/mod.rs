//! The service as a whole: requests in, answers out, and what stands in the store.

#[cfg(not(target_arch = "wasm32"))]
mod answers;
mod calls;
mod crashes;
mod deliveries;
mod endpoints;
mod fixture;
mod hostile;
mod ledger;
mod limits;
mod model;
mod review;
mod roundtrips;
