//! From a JSON schema to [`Node`]s. Every problem is collected; none stops the search for others.

mod cycle;
mod header;
mod keyword;
mod pointer;

use std::collections::BTreeMap;

use serde_json::{Map, Value};

use self::{header::Reach, pointer::Pointer};
use super::{
    MAX_DEPTH, MAX_SUBSCHEMAS,
    error::{Problem, Reason, SchemaError},
    header::HeaderParam,
    node::{Id, Node, Types},
};

/// What compiling makes: the sub-schemas, the root first, and the annotated parameters.
pub(super) struct Compiled {
    pub(super) nodes: Vec<Node>,
    pub(super) headers: Vec<HeaderParam>,
}

pub(super) fn compile(schema: &Value) -> Result<Compiled, SchemaError> {
    let mut compiler = Compiler::default();
    compiler.root(schema);
    // Cycles can be looked for only where all references lead somewhere.
    if compiler.problems.is_empty()
        && let Some((id, reason)) = cycle::check(&compiler.nodes)
    {
        let definition = compiler.definitions.iter().find(|(_, other)| **other == id);
        let definitions = Pointer::Root.key("$defs");
        let place = definition.map_or(Pointer::Root, |(name, _)| definitions.key(name));
        compiler.problems.push(Problem {
            pointer: place.to_string(),
            reason,
        });
    }
    SchemaError::check(compiler.problems)?;
    Ok(Compiled {
        nodes: compiler.nodes,
        headers: compiler.headers,
    })
}

/// What MCP demands of a tool's input on top: the root says that it is an object, and nothing else.
pub(super) fn check_input(schema: &Value) -> Result<(), SchemaError> {
    if schema.get("type").and_then(Value::as_str) == Some("object") {
        return Ok(());
    }
    SchemaError::check(vec![Problem {
        pointer: Pointer::Root.to_string(),
        reason: Reason::NotAnObject,
    }])
}

#[derive(Default)]
struct Compiler {
    nodes: Vec<Node>,
    /// By name in `$defs`.
    definitions: BTreeMap<String, Id>,
    headers: Vec<HeaderParam>,
    problems: Vec<Problem>,
}

impl Compiler {
    fn root(&mut self, schema: &Value) {
        let root = self.reserve();
        let definitions = schema.get("$defs").and_then(Value::as_object);
        for name in definitions.into_iter().flat_map(Map::keys) {
            let id = self.reserve();
            self.definitions.insert(name.clone(), id);
        }
        if self.nodes.len() > MAX_SUBSCHEMAS {
            return self.problem(&Pointer::Root.key("$defs"), Reason::TooLarge);
        }
        self.compile_into(root, schema, &Pointer::Root, &Reach::Root);
        let place = Pointer::Root.key("$defs");
        for (name, definition) in definitions.into_iter().flatten() {
            if let Some(&id) = self.definitions.get(name) {
                self.compile_into(id, definition, &place.key(name), &Reach::Nowhere);
            }
        }
    }

    fn reserve(&mut self) -> Id {
        // Saturates far above the limit, at which nothing is compiled.
        let id = Id(u32::try_from(self.nodes.len()).unwrap_or(u32::MAX));
        self.nodes.push(Node::default());
        id
    }

    fn problem(&mut self, place: &Pointer<'_>, reason: Reason) {
        self.problems.push(Problem {
            pointer: place.to_string(),
            reason,
        });
    }

    /// Compiles a sub-schema that a value is reached from the root by in no way that a header could follow.
    fn schema(&mut self, schema: &Value, place: &Pointer<'_>) -> Id {
        self.reached_schema(schema, place, &Reach::Nowhere)
    }

    fn reached_schema(&mut self, schema: &Value, place: &Pointer<'_>, reach: &Reach<'_>) -> Id {
        let reason = match (
            self.nodes.len() >= MAX_SUBSCHEMAS,
            place.depth() > MAX_DEPTH,
        ) {
            (false, false) => {
                let id = self.reserve();
                self.compile_into(id, schema, place, reach);
                return id;
            }
            (true, _) => Reason::TooLarge,
            (_, true) => Reason::TooDeep,
        };
        // Said once: what is cut off here would only say it again.
        if !self.problems.iter().any(|problem| problem.reason == reason) {
            self.problem(place, reason);
        }
        Id(0)
    }

    fn compile_into(&mut self, id: Id, schema: &Value, place: &Pointer<'_>, reach: &Reach<'_>) {
        let mut node = Node::default();
        match schema {
            Value::Bool(true) => {}
            Value::Bool(false) => node.types = Types::NONE,
            Value::Object(keywords) => {
                for (keyword, value) in keywords {
                    self.keyword(&mut node, (keyword, value), keywords, place, reach);
                }
                if let Some(annotation) = keywords.get("x-mcp-header") {
                    self.header(&mut node, annotation, keywords.get("type"), place, reach);
                }
            }
            _ => self.problem(place, Reason::NotASchema),
        }
        if let Some(slot) = self.nodes.get_mut(id.at()) {
            *slot = node;
        }
    }
}
