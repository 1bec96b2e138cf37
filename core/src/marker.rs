//! `Send` where the target has threads, nothing where it has none.
//!
//! A future on a server must be `Send`; one in a browser-like runtime holds JavaScript values and can't be.
//! The choice follows the *target*, never a feature, so that one extension crate compiles for both.

use std::{future::Future, pin::Pin};

/// `Send` on targets with threads; every type on `wasm32`.
#[cfg(not(target_arch = "wasm32"))]
pub trait MaybeSend: Send {}
#[cfg(not(target_arch = "wasm32"))]
impl<T: Send + ?Sized> MaybeSend for T {}

/// `Send` on targets with threads; every type on `wasm32`.
#[cfg(target_arch = "wasm32")]
pub trait MaybeSend {}
#[cfg(target_arch = "wasm32")]
impl<T: ?Sized> MaybeSend for T {}

/// `Sync` on targets with threads; every type on `wasm32`.
#[cfg(not(target_arch = "wasm32"))]
pub trait MaybeSync: Sync {}
#[cfg(not(target_arch = "wasm32"))]
impl<T: Sync + ?Sized> MaybeSync for T {}

/// `Sync` on targets with threads; every type on `wasm32`.
#[cfg(target_arch = "wasm32")]
pub trait MaybeSync {}
#[cfg(target_arch = "wasm32")]
impl<T: ?Sized> MaybeSync for T {}

/// A boxed future that is [`MaybeSend`]. (`dyn Future + MaybeSend` can't be written, hence two aliases.)
#[cfg(not(target_arch = "wasm32"))]
pub type BoxFuture<'a, T> = Pin<Box<dyn Future<Output = T> + Send + 'a>>;

/// A boxed future that is [`MaybeSend`]. (`dyn Future + MaybeSend` can't be written, hence two aliases.)
#[cfg(target_arch = "wasm32")]
pub type BoxFuture<'a, T> = Pin<Box<dyn Future<Output = T> + 'a>>;
