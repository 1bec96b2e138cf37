//! What holds on this machine holds on Lambda.

use std::process::ExitCode;

use pup_extension_tests::{lambda::Lambda, tour};

use crate::{PROGRAM, deploy::options};

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn every_step_of_the_tour_holds() {
    let place = Lambda::new(PROGRAM, options()).await.unwrap();
    let status = tour::take(&place).await.unwrap();
    assert_eq!(status, ExitCode::SUCCESS);
}
