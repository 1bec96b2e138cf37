//! `x-mcp-header`: parameters that a client repeats in HTTP headers.

/// A parameter of a tool that MCP's Streamable HTTP transport carries in a header too, `Mcp-Param-{name}`.
///
/// A schema with an annotation that breaks one of MCP's rules does not compile, so one that exists can be
/// advertised: a client must drop a tool whose annotations are invalid. The parameter may still be absent from a
/// call, or `null`, and then its header must be absent too.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct HeaderParam {
    /// The name as annotated: a token of RFC 9110, section 5.6.2, unique among the tool's without regard to case.
    pub name: String,
    /// The names of the properties that lead to the parameter, from the root. Never empty.
    pub path: Vec<String>,
    /// What the parameter is.
    pub kind: HeaderKind,
}

/// The types that a [`HeaderParam`] can have. (A `number` can't be one.)
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum HeaderKind {
    /// Text, as it is.
    String,
    /// An integer; a value outside of ±(2⁵³ − 1) is refused by [`validate`](super::Schema::validate), as MCP
    /// demands.
    Integer,
    /// `true` or `false`.
    Boolean,
}

/// The largest magnitude that an integer in a header can have, 2⁵³ − 1.
pub(super) const MAX_INTEGER: i64 = (1 << 53) - 1;

/// Whether it is a token of RFC 9110, section 5.6.2.
pub(super) fn is_token(text: &str) -> bool {
    !text.is_empty()
        && text
            .bytes()
            .all(|byte| byte.is_ascii_alphanumeric() || b"!#$%&'*+-.^_`|~".contains(&byte))
}
