//! The shared store suite on SQLite.

use pup_extension::store::suite::Harness;
use pup_extension_local::SqliteStore;

#[expect(
    clippy::unwrap_used,
    reason = "a test helper; the lint exempts test functions alone"
)]
fn block_on<T>(future: impl Future<Output = T>) -> T {
    tokio::runtime::Builder::new_multi_thread()
        .worker_threads(2)
        .enable_all()
        .build()
        .unwrap()
        .block_on(future)
}

mod one_store {
    use super::*;

    pup_extension::store_suite! {
        #[test]
        block_on = block_on,
        harness = {
            let folder = tempfile::tempdir().unwrap();
            let store = SqliteStore::open(folder.path().join("store.sqlite")).unwrap();
            Harness::new(store.clone(), store, 0).keeping(folder)
        },
        not_promised = [],
    }
}

/// Two stores with connections, writers and caches of their own, as two processes have.
mod two_stores_on_one_file {
    use super::*;

    pup_extension::store_suite! {
        #[test]
        block_on = block_on,
        harness = {
            let folder = tempfile::tempdir().unwrap();
            let path = folder.path().join("store.sqlite");
            let store = SqliteStore::open(&path).unwrap();
            let other = SqliteStore::open(&path).unwrap();
            Harness::new(store, other, 0).keeping(folder)
        },
        not_promised = [],
    }
}
