//! What core reaches the outside through: the store and the runtime, whatever they are.

use std::{fmt, sync::Arc};

use crate::{
    runtime::{DynRuntime, Runtime},
    store::{
        AnchoredCommit, CommitError, DynStore, Item, Key, Name, Outcome, Partition, Revision,
        Store, StoreError, Value, commit_resolved,
    },
    task::{Background, DynBackground},
    time::Timestamp,
};

/// The ports, shared by all that a service does.
#[derive(Clone)]
pub(crate) struct Ports {
    pub(crate) store: Arc<dyn DynStore>,
    pub(crate) runtime: Arc<dyn DynRuntime>,
    /// There where an extension has task tools.
    pub(crate) background: Option<Arc<dyn DynBackground>>,
}

impl Ports {
    pub(crate) fn new(store: impl Store, runtime: impl Runtime) -> Self {
        Self {
            store: Arc::new(store),
            runtime: Arc::new(runtime),
            background: None,
        }
    }

    pub(crate) fn with_background(mut self, background: impl Background) -> Self {
        self.background = Some(Arc::new(background));
        self
    }

    pub(crate) fn now(&self) -> Timestamp {
        self.runtime.dyn_now()
    }

    pub(crate) async fn read(
        &self,
        partition: &Partition,
        name: &Name,
    ) -> Result<Option<Item>, StoreError> {
        self.store
            .dyn_get(&Key::new(partition.clone(), name.clone()), self.now())
            .await
    }

    /// A commit of a fresh id, begun with the put that tells afterwards whether it was applied: of a new item,
    /// or of one that replaces the item at a revision.
    pub(crate) fn commit(
        &self,
        partition: &Partition,
        anchor: Name,
        from: Option<Revision>,
        value: Value,
        expires_at: Option<Timestamp>,
    ) -> Result<AnchoredCommit, CommitError> {
        let id = Revision::new(self.runtime.dyn_random());
        match from {
            None => AnchoredCommit::creating(id, partition.clone(), anchor, value, expires_at),
            Some(from) => {
                AnchoredCommit::replacing(id, partition.clone(), anchor, from, value, expires_at)
            }
        }
    }

    /// Sends a commit and finds out what became of it.
    pub(crate) async fn send(
        &self,
        commit: &AnchoredCommit,
        now: Timestamp,
    ) -> Result<Outcome, StoreError> {
        commit_resolved(&*self.store, &*self.runtime, commit, now).await
    }
}

impl fmt::Debug for Ports {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Ports").finish_non_exhaustive()
    }
}
