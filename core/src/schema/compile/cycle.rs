//! A schema that applies itself to the same value could never be decided.

use super::super::{
    MAX_DEPTH,
    error::Reason,
    node::{Id, Node},
};

/// How far a sub-schema is on the way.
#[derive(Clone, Copy)]
enum State {
    New,
    Open,
    /// With the length of the longest chain of sub-schemas that apply each other to one value from here.
    Done(usize),
}

/// Finds a cycle of sub-schemas that apply each other in place, or a chain of them that is too long: a sub-schema in
/// it, and what is wrong. In a cycle it is always one that a reference leads to, since nothing else is entered twice.
pub(super) fn check(nodes: &[Node]) -> Option<(Id, Reason)> {
    let mut states = vec![State::New; nodes.len()];
    let ids = (0..).map(Id).take(nodes.len());
    ids.into_iter()
        .find_map(|id| height(nodes, &mut states, id, 0).err())
}

fn height(
    nodes: &[Node],
    states: &mut [State],
    id: Id,
    above: usize,
) -> Result<usize, (Id, Reason)> {
    match states.get(id.at()) {
        Some(State::Open) => return Err((id, Reason::Cycle)),
        Some(State::Done(height)) if above + height > MAX_DEPTH => {
            return Err((id, Reason::TooDeep));
        }
        Some(State::Done(height)) => return Ok(*height),
        Some(State::New) if above >= MAX_DEPTH => return Err((id, Reason::TooDeep)),
        Some(State::New) | None => {}
    }
    set(states, id, State::Open);
    let mut highest = 0;
    for target in nodes
        .get(id.at())
        .into_iter()
        .flat_map(|node| &node.in_place)
        .flat_map(|in_place| in_place.targets())
    {
        highest = highest.max(height(nodes, states, target, above + 1)?);
    }
    set(states, id, State::Done(highest + 1));
    Ok(highest + 1)
}

fn set(states: &mut [State], id: Id, new: State) {
    if let Some(state) = states.get_mut(id.at()) {
        *state = new;
    }
}
