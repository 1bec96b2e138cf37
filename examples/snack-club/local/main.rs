//! Serves `snack_club` on this machine; with `--tour`, shows itself off and checks that everything held.

mod tour;

use std::process::ExitCode;

const USAGE: &str = "\
usage: snack-club [--tour]

  without arguments  serve on 127.0.0.1:8787 (PUP_LISTEN)
  --tour             serve on a free port and a fresh store, act as pup against it, and check every answer
  --help             print this";

#[expect(
    clippy::print_stderr,
    clippy::print_stdout,
    reason = "a program says how it is used"
)]
fn main() -> ExitCode {
    let arguments: Vec<String> = std::env::args().skip(1).collect();
    match arguments
        .iter()
        .map(String::as_str)
        .collect::<Vec<_>>()
        .as_slice()
    {
        [] => pup_extension_local::run(snack_club::extension()),
        ["--tour"] => tour::run(),
        ["--help" | "-h"] => {
            println!("{USAGE}");
            ExitCode::SUCCESS
        }
        _ => {
            eprintln!("{USAGE}");
            ExitCode::from(2)
        }
    }
}
