//! The events that an extension can ask for.

use std::fmt;

/// An event that pup sends to extensions that declare it.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
#[non_exhaustive]
pub enum EventKind {
    /// `member.joined`: somebody joined the server.
    MemberJoined,
    /// `member.left`: somebody left the server.
    MemberLeft,
}

impl EventKind {
    /// The name as the manifest and the envelope spell it.
    #[must_use]
    pub const fn as_str(self) -> &'static str {
        match self {
            Self::MemberJoined => "member.joined",
            Self::MemberLeft => "member.left",
        }
    }

    /// The event of that name; `None` where pup has none.
    ///
    /// ```
    /// use pup_extension::manifest::EventKind;
    ///
    /// assert_eq!(EventKind::from_name("member.left"), Some(EventKind::MemberLeft));
    /// assert_eq!(EventKind::from_name("member.Left"), None);
    /// ```
    #[must_use]
    pub fn from_name(name: &str) -> Option<Self> {
        [Self::MemberJoined, Self::MemberLeft]
            .into_iter()
            .find(|kind| kind.as_str() == name)
    }
}

impl fmt::Display for EventKind {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.as_str())
    }
}
