//! Snack Club: choose a snack and save your preference.
//!
//! The example extension of the protocol's own pages, grown to show every feature. Nothing in here knows where it
//! runs: [`extension`] is served by a thin `main` per runtime.
//!
//! | tool | shows |
//! |---|---|
//! | `snack_menu` | a read: state, settings, a `pup` block with a button |
//! | `save_snack` | a write: state of the installation and of a member |
//! | `forget_snack` | a write that pup always asks about |
//! | `quote_request` | the message that triggered a call |
//! | `choose_snack` | a task that asks who called |
//! | `bake_snacks` | a task that steps, pauses and says how far it is |

mod bake;
mod choose;
mod events;
mod preferences;
mod quote;
mod snack;

use pup_extension::prelude::*;

pub use snack::Snack;

/// The extension.
///
/// # Panics
///
/// Never: a test builds it.
#[must_use]
#[expect(
    clippy::expect_used,
    reason = "what can be wrong with it is wrong at once, and a test builds it"
)]
pub fn extension() -> Extension {
    Extension::builder("snack_club", "Snack Club")
        .version(env!("CARGO_PKG_VERSION"))
        .author("Example author")
        .description("Choose a snack and save your preference.")
        .summary("List, choose and bake snacks, or save your preference.")
        .instructions(
            "Use snack_menu when asked for the available snacks. Use save_snack only when asked to save a preference. \
             Use choose_snack for who can't decide, and bake_snacks only when asked to bake.",
        )
        .tool(
            Tool::new("snack_menu", preferences::snack_menu)
                .title("See the snacks")
                .description("Lists the snacks there are, how often each is preferred, and the asker's own preference.")
                .read_only(),
        )
        .tool(
            Tool::new("save_snack", preferences::save_snack)
                .title("Save your snack preference")
                .description("Saves the asker's snack preference."),
        )
        .tool(
            Tool::new("forget_snack", preferences::forget_snack)
                .title("Forget your snack preference")
                .description("Deletes the asker's snack preference. It can't be brought back.")
                .always_ask(),
        )
        .tool(
            Tool::new("quote_request", quote::quote_request)
                .title("Quote your request")
                .description("Repeats the asker's own message, word for word.")
                .read_only()
                .user_request(),
        )
        .tool(
            Tool::task("choose_snack", choose::choose_snack)
                .title("Choose a snack")
                .description("Help the asker pick a snack.")
                .read_only()
                .asks::<choose::Taste>(),
        )
        .tool(
            Tool::task("bake_snacks", bake::bake_snacks)
                .title("Bake snacks")
                .description("Bakes snacks for the stock, batch by batch, and says how far it is."),
        )
        .command(Command::new("snacks", "See available snacks").tool("snack_menu"))
        .setting(Setting::text("greeting", "Greeting"))
        .setting(Setting::long_text("menu_note", "Menu note"))
        .on_member_joined(events::welcome)
        .build()
        .expect("the manifest is valid")
}

/// The README's examples compile and hold.
#[cfg(all(doctest, feature = "local"))]
#[doc = include_str!("../../../README.md")]
struct Readme;
