//! `snack_club` as a Lambda function.

use std::process::ExitCode;

fn main() -> ExitCode {
    pup_extension_lambda::run(snack_club::extension())
}
