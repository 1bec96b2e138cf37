//! Any bytes are a manifest or an error, and a manifest that is written out reads back as itself.

#![no_main]

use libfuzzer_sys::fuzz_target;
use pup_extension::manifest::{EndpointRule, Manifest};

fuzz_target!(|bytes: &[u8]| {
    for rule in [EndpointRule::PublicHttps, EndpointRule::OrLoopback] {
        match Manifest::parse_with(bytes, rule) {
            Ok(manifest) => {
                let json = manifest.to_json();
                let again = Manifest::parse_with(&json, rule)
                    .expect("a manifest that was written out is valid");
                assert_eq!(again, manifest);
                assert_eq!(again.to_json(), json);
            }
            Err(error) => assert!(!error.to_string().is_empty()),
        }
    }
});
