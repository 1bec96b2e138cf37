//! What a listing is asked for, and what it brings.

use super::{
    item::Item,
    key::{Name, Partition},
};

/// The most items that one page of [`Store::list`](super::Store::list) holds.
pub const MAX_PAGE: usize = 1_000;

/// A page ends once its names and values have this many bytes, however few its items are: the smallest
/// page of the backends (DynamoDB's), and what an instance with little memory can hold.
pub const MAX_PAGE_BYTES: usize = 1024 * 1024;

/// What [`Store::list`](super::Store::list) is asked for.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Query {
    /// The partition to read.
    pub partition: Partition,
    /// Names start with this; empty for all.
    pub prefix: String,
    /// Where an earlier page ended ([`Page::next`]); `None` for the first page.
    pub after: Option<Cursor>,
    /// The most items to return, 1 to [`MAX_PAGE`]; another number is brought into that range. A page may
    /// be shorter, even empty, and still not be the last: only [`Page::next`] tells.
    pub limit: usize,
}

impl Query {
    /// The limit, brought into its range.
    #[must_use]
    pub fn page_size(&self) -> usize {
        self.limit.clamp(1, MAX_PAGE)
    }

    /// The names still to read, for a store whose cursors are made by [`Cursor::past`]: from the first text
    /// (inclusive) to the second (exclusive), or to the end of the partition where there is no second.
    ///
    /// The texts are bounds for comparing bytes, not names; they may be no valid [`Name`].
    #[must_use]
    pub fn range(&self) -> (String, Option<String>) {
        let mut from = self.prefix.clone();
        if let Some(Cursor(last)) = &self.after
            && *last >= from
        {
            // No name holds a control character, so nothing stands between a name and this.
            from = format!("{last}\0");
        }
        (from, successor(&self.prefix))
    }
}

/// A place in a listing, made by the store that made the page and meaningful to it alone.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Cursor(pub String);

impl Cursor {
    /// The place just behind a name, for stores that need nothing more to go on from there.
    #[must_use]
    pub fn past(name: &Name) -> Self {
        Self(name.as_str().to_owned())
    }
}

/// One page of a listing.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Page {
    /// The items, in the order of the names' bytes.
    pub items: Vec<(Name, Item)>,
    /// Where to go on; `None` when this was the last page.
    pub next: Option<Cursor>,
}

impl Page {
    /// A page of the items that a store found in [`Query::range`], in order, none of them expired. It stops
    /// reading where the page is full, and needs to be offered one item more than [`Query::page_size`] to
    /// know that there is another page.
    ///
    /// # Errors
    ///
    /// The first error of the items.
    pub fn collect<E>(
        query: &Query,
        items: impl IntoIterator<Item = Result<(Name, Item), E>>,
    ) -> Result<Self, E> {
        let mut page = Self::default();
        let mut bytes = 0;
        for item in items {
            let (name, item) = item?;
            if page.items.len() == query.page_size() || bytes >= MAX_PAGE_BYTES {
                page.next = page.items.last().map(|(name, _)| Cursor::past(name));
                break;
            }
            bytes += name.as_str().len() + item.value.size();
            page.items.push((name, item));
        }
        Ok(page)
    }
}

/// The smallest text that is greater than everything that starts with `prefix`; `None` where there is none.
fn successor(prefix: &str) -> Option<String> {
    // UTF-8 sorts by bytes as its characters sort, so the last character that can be counted up is.
    let mut text = prefix.to_owned();
    while let Some(last) = text.pop() {
        if let Some(next) = (last..=char::MAX).nth(1) {
            text.push(next);
            return Some(text);
        }
    }
    None
}

#[cfg(test)]
mod tests {
    use std::convert::Infallible;

    use proptest::prelude::*;

    use super::*;
    use crate::store::{Revision, Value};

    fn query(prefix: &str, after: Option<&str>) -> Query {
        Query {
            partition: Partition::unscoped(),
            prefix: prefix.to_owned(),
            after: after.map(|name| Cursor(name.to_owned())),
            limit: 2,
        }
    }

    fn within(query: &Query, name: &str) -> bool {
        let (from, to) = query.range();
        name >= from.as_str() && to.is_none_or(|to| name < to.as_str())
    }

    #[test]
    fn a_range_ends_where_the_prefix_does() {
        assert_eq!(query("a/", None).range(), ("a/".into(), Some("a0".into())));
        assert_eq!(query("", None).range(), (String::new(), None));
        assert_eq!(
            query("a\u{10FFFF}\u{10FFFF}", None).range().1,
            Some("b".into())
        );
        assert_eq!(query("\u{10FFFF}", None).range().1, None);
        // The characters between these two are surrogates, which no text holds.
        assert_eq!(query("\u{D7FF}", None).range().1, Some("\u{E000}".into()));
    }

    #[test]
    fn a_cursor_from_outside_the_prefix_shows_nothing_from_outside_it() {
        assert_eq!(query("b/", Some("a/x")).range().0, "b/");
        assert!(!within(&query("b/", Some("c/x")), "c/y"));
    }

    #[test]
    fn a_page_ends_at_its_limit_and_knows_whether_it_is_the_last() {
        let item = |name: &str| {
            let item = Item {
                value: Value::Number(1),
                revision: Revision::new(1),
                expires_at: None,
            };
            Ok::<_, Infallible>((Name::of([name]).unwrap(), item))
        };
        let page = Page::collect(&query("", None), ["a", "b", "c"].map(item)).unwrap();
        assert_eq!(page.items.len(), 2);
        assert_eq!(page.next, Some(Cursor("b".into())));
        let page = Page::collect(&query("", None), ["a", "b"].map(item)).unwrap();
        assert_eq!((page.items.len(), page.next), (2, None));
    }

    proptest! {
        #[test]
        fn a_range_holds_exactly_the_names_that_start_with_the_prefix_and_come_after(
            prefix in "[ab\u{7FF}\u{D7FF}\u{E000}\u{10FFFF}]{0,3}",
            after in proptest::option::of("[ab\u{7FF}\u{D7FF}\u{E000}\u{10FFFF}]{1,4}"),
            name in "[ab\u{7FF}\u{D7FF}\u{E000}\u{10FFFF}]{1,4}",
        ) {
            let expected = name.starts_with(&prefix)
                && after.as_ref().is_none_or(|after| name > *after);
            prop_assert_eq!(within(&query(&prefix, after.as_deref()), &name), expected);
        }
    }
}
