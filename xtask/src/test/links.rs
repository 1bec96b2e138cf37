//! Links between the pages of this repository that lead nowhere.

use std::collections::BTreeSet;
use std::fs;
use std::path::Path;

use anyhow::Context;
use pulldown_cmark::{BrokenLink, CowStr, Event, Options, Parser, Tag, TagEnd};

/// Every relative link in `pages` whose file or heading does not exist, as `page: link: why`.
///
/// # Errors
///
/// When a page can't be read.
pub(crate) fn dead(root: &Path, pages: &[impl AsRef<Path>]) -> anyhow::Result<Vec<String>> {
    let mut dead = Vec::new();
    for page in pages.iter().map(AsRef::as_ref) {
        let shown = page.strip_prefix(root).unwrap_or(page).display();
        let page_text = Page::read(page)?;
        dead.extend(
            page_text
                .undefined
                .iter()
                .map(|name| format!("{shown}: [{name}]: the reference is not defined")),
        );
        for link in page_text.links {
            if let Some(why) = fault(page, &link)? {
                dead.push(format!("{shown}: {link}: {why}"));
            }
        }
    }
    Ok(dead)
}

fn fault(page: &Path, link: &str) -> anyhow::Result<Option<&'static str>> {
    if is_absolute(link) {
        return Ok(None);
    }
    let (path, heading) = link
        .split_once('#')
        .map_or((link, None), |(path, heading)| (path, Some(heading)));
    let file = match path {
        "" => page.to_path_buf(),
        path => page.parent().unwrap_or(page).join(decoded(path)),
    };
    if path.starts_with('/') {
        return Ok(Some("link from this page, not from the root"));
    }
    if !file.exists() {
        return Ok(Some("there is no such file"));
    }
    match heading {
        Some(heading) if file.extension().is_some_and(|extension| extension == "md") => {
            Ok((!Page::read(&file)?.anchors.contains(heading))
                .then_some("there is no such heading"))
        }
        _ => Ok(None),
    }
}

/// Whether a link names a scheme (`https:`, `mailto:`), and so leaves this repository.
fn is_absolute(link: &str) -> bool {
    link.split_once(':').is_some_and(|(scheme, _)| {
        scheme.starts_with(|c: char| c.is_ascii_alphabetic())
            && scheme
                .chars()
                .all(|c| c.is_ascii_alphanumeric() || matches!(c, '+' | '-' | '.'))
    })
}

/// Spaces are the one thing that our file names could need encoded.
fn decoded(path: &str) -> String {
    path.replace("%20", " ")
}

/// What a page links to, and what can be linked to in it.
#[derive(Debug, Default)]
struct Page {
    links: Vec<String>,
    anchors: BTreeSet<String>,
    undefined: Vec<String>,
}

impl Page {
    fn read(path: &Path) -> anyhow::Result<Self> {
        let text =
            fs::read_to_string(path).with_context(|| format!("can't read {}", path.display()))?;
        Ok(Self::parse(&text))
    }

    fn parse(text: &str) -> Self {
        let mut page = Self::default();
        let mut undefined = Vec::new();
        let mut heading: Option<String> = None;
        // `[text][name]` without a definition would otherwise pass as plain text. `[name]` alone is often meant so.
        let mut missing = |link: BrokenLink<'_>| -> Option<(CowStr<'_>, CowStr<'_>)> {
            if matches!(link.link_type, pulldown_cmark::LinkType::Reference) {
                undefined.push(link.reference.to_string());
            }
            None
        };
        let options =
            Options::ENABLE_TABLES | Options::ENABLE_FOOTNOTES | Options::ENABLE_STRIKETHROUGH;
        for event in Parser::new_with_broken_link_callback(text, options, Some(&mut missing)) {
            match event {
                Event::Start(Tag::Link { dest_url, .. } | Tag::Image { dest_url, .. }) => {
                    page.links.push(dest_url.to_string());
                }
                Event::Start(Tag::Heading { .. }) => heading = Some(String::new()),
                Event::End(TagEnd::Heading(_)) => {
                    let anchor = anchor(&heading.take().unwrap_or_default());
                    page.add_anchor(&anchor);
                }
                Event::Text(text) | Event::Code(text) => {
                    if let Some(heading) = &mut heading {
                        heading.push_str(&text);
                    }
                }
                _ => {}
            }
        }
        page.undefined = undefined;
        page
    }

    /// Headings of the same text are told apart by a number, as where the pages are shown.
    fn add_anchor(&mut self, anchor: &str) {
        let numbered = (1..).map(|number| format!("{anchor}-{number}"));
        let free = std::iter::once(String::from(anchor))
            .chain(numbered)
            .find(|name| !self.anchors.contains(name));
        self.anchors.extend(free);
    }
}

/// The name that a heading can be linked by: lower case, spaces as hyphens, other punctuation dropped.
fn anchor(heading: &str) -> String {
    heading
        .to_lowercase()
        .chars()
        .filter_map(|c| match c {
            ' ' => Some('-'),
            '-' | '_' => Some(c),
            _ => c.is_alphanumeric().then_some(c),
        })
        .collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn check(page: &str) -> Vec<String> {
        let dir = tempfile::tempdir().unwrap();
        let [index, other] = ["index.md", "other page.md"].map(|name| dir.path().join(name));
        fs::write(&index, page).unwrap();
        fs::write(
            &other,
            "# Two `Words`, and 1 more\n\n## Twice\n\n## Twice\n",
        )
        .unwrap();
        dead(dir.path(), &[index]).unwrap()
    }

    #[test]
    fn links_that_lead_somewhere_are_fine() {
        let page = "# Here\n[a](other%20page.md) [b](other%20page.md#two-words-and-1-more) [c](#here) \
                    [d](https://example.com/x#y) [e](mailto:a@example.com) [f](other%20page.md#twice-1) [g][h]\n\n\
                    [h]: other%20page.md\n\n`[i](gone.md)`\n\n```\n[j](gone.md)\n```\n";
        assert_eq!(check(page), [""; 0]);
    }

    #[test]
    fn each_kind_of_dead_link_is_named() {
        for (link, why) in [
            ("[a](gone.md)", "index.md: gone.md: there is no such file"),
            (
                "![a](gone.png)",
                "index.md: gone.png: there is no such file",
            ),
            ("[a](#gone)", "index.md: #gone: there is no such heading"),
            (
                "[a](other%20page.md#twice-2)",
                "index.md: other%20page.md#twice-2: there is no such heading",
            ),
            (
                "[a](/index.md)",
                "index.md: /index.md: link from this page, not from the root",
            ),
            (
                "[a][gone]",
                "index.md: [gone]: the reference is not defined",
            ),
        ] {
            assert_eq!(check(link), [why]);
        }
    }
}
