//! The pieces of content that a tool's result can hold.

use std::fmt;

use base64::{Engine as _, engine::general_purpose::STANDARD};
use serde::Serialize;
use serde_json::{Map, Value};

use super::Annotations;

/// One piece of content in a tool's result: text, an image, audio, a link to a resource, or a resource itself.
///
/// ```
/// use pup_extension::mcp::{Annotations, Content, Role};
///
/// let content = Content::text("three left").with_annotations(Annotations {
///     audience: vec![Role::User],
///     ..Annotations::default()
/// });
/// assert_eq!(
///     serde_json::to_string(&content).unwrap(),
///     r#"{"type":"text","text":"three left","annotations":{"audience":["user"]}}"#,
/// );
/// ```
#[derive(Clone, PartialEq, Serialize)]
pub struct Content {
    #[serde(flatten)]
    block: Block,
    #[serde(skip_serializing_if = "Option::is_none")]
    annotations: Option<Annotations>,
    #[serde(rename = "_meta", skip_serializing_if = "Map::is_empty")]
    meta: Map<String, Value>,
}

#[derive(Clone, PartialEq, Serialize)]
#[serde(
    tag = "type",
    rename_all = "snake_case",
    rename_all_fields = "camelCase"
)]
enum Block {
    Text { text: String },
    Image { data: String, mime_type: String },
    Audio { data: String, mime_type: String },
    ResourceLink(ResourceLink),
    Resource { resource: Contents },
}

/// A link to a resource that the caller may read elsewhere.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
#[serde(rename_all = "camelCase")]
pub struct ResourceLink {
    /// Where it is.
    pub uri: String,
    /// Its name, for programs.
    pub name: String,
    /// Its name, for people.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub title: Option<String>,
    /// What it is.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub description: Option<String>,
    /// Its MIME type.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub mime_type: Option<String>,
    /// Its size in bytes, before any encoding.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub size: Option<u64>,
}

impl ResourceLink {
    /// A link with what every link has.
    pub fn new(uri: impl Into<String>, name: impl Into<String>) -> Self {
        Self {
            uri: uri.into(),
            name: name.into(),
            title: None,
            description: None,
            mime_type: None,
            size: None,
        }
    }
}

#[derive(Clone, PartialEq, Serialize)]
#[serde(rename_all = "camelCase")]
struct Contents {
    uri: String,
    #[serde(skip_serializing_if = "Option::is_none")]
    mime_type: Option<String>,
    #[serde(flatten)]
    payload: Payload,
}

#[derive(Clone, PartialEq, Serialize)]
#[serde(rename_all = "lowercase")]
enum Payload {
    Text(String),
    Blob(String),
}

impl Content {
    /// Text.
    pub fn text(text: impl Into<String>) -> Self {
        Self::new(Block::Text { text: text.into() })
    }

    /// An image, from its bytes.
    pub fn image(bytes: impl AsRef<[u8]>, mime_type: impl Into<String>) -> Self {
        Self::new(Block::Image {
            data: STANDARD.encode(bytes),
            mime_type: mime_type.into(),
        })
    }

    /// Audio, from its bytes.
    pub fn audio(bytes: impl AsRef<[u8]>, mime_type: impl Into<String>) -> Self {
        Self::new(Block::Audio {
            data: STANDARD.encode(bytes),
            mime_type: mime_type.into(),
        })
    }

    /// A link to a resource.
    #[must_use]
    pub fn resource_link(link: ResourceLink) -> Self {
        Self::new(Block::ResourceLink(link))
    }

    /// A resource that is text, with its URI and, where known, its MIME type.
    pub fn text_resource(
        uri: impl Into<String>,
        mime_type: Option<&str>,
        text: impl Into<String>,
    ) -> Self {
        Self::resource(uri, mime_type, Payload::Text(text.into()))
    }

    /// A resource that is binary, with its URI and, where known, its MIME type.
    pub fn blob_resource(
        uri: impl Into<String>,
        mime_type: Option<&str>,
        bytes: impl AsRef<[u8]>,
    ) -> Self {
        Self::resource(uri, mime_type, Payload::Blob(STANDARD.encode(bytes)))
    }

    fn resource(uri: impl Into<String>, mime_type: Option<&str>, payload: Payload) -> Self {
        let resource = Contents {
            uri: uri.into(),
            mime_type: mime_type.map(str::to_owned),
            payload,
        };
        Self::new(Block::Resource { resource })
    }

    fn new(block: Block) -> Self {
        Self {
            block,
            annotations: None,
            meta: Map::new(),
        }
    }

    /// With hints about it.
    #[must_use]
    pub fn with_annotations(mut self, annotations: Annotations) -> Self {
        self.annotations = Some(annotations);
        self
    }

    /// With a `_meta` object.
    #[must_use]
    pub fn with_meta(mut self, meta: Map<String, Value>) -> Self {
        self.meta = meta;
        self
    }
}

/// Content is people's data: only what kind it is of is shown.
impl fmt::Debug for Content {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_tuple("Content")
            .field(&format_args!(
                "{}",
                match self.block {
                    Block::Text { .. } => "text",
                    Block::Image { .. } => "image",
                    Block::Audio { .. } => "audio",
                    Block::ResourceLink(_) => "resource link",
                    Block::Resource { .. } => "resource",
                }
            ))
            .finish()
    }
}
