//! What the command line, files and the environment say, checked.

use std::{env, fs, io::Read as _, path::Path};

use pup_extension_cli::{Client, ClientBuilder, Secret};
use serde_json::{Map, Value};
use zeroize::Zeroizing;

use crate::{
    args::{AskerArgs, Global, InstallationArgs, RequestArgs},
    failure::Failure,
};

const SECRET_VARIABLE: &str = "PUP_SIGNING_SECRET";

/// Sets up a client that signs.
pub(crate) fn client(global: &Global) -> Result<ClientBuilder, Failure> {
    Ok(builder(global, secret(global)?))
}

/// Sets up a client for what needs no signature.
pub(crate) fn client_without_secret(global: &Global) -> Result<ClientBuilder, Failure> {
    Ok(builder(global, fresh_secret()?))
}

/// A secret of 32 random bytes.
pub(crate) fn fresh_secret() -> Result<Secret, Failure> {
    let mut bytes = Zeroizing::new([0; 32]);
    getrandom::fill(bytes.as_mut())
        .map_err(|error| Failure::usage(format!("the system gave no random bytes: {error}")))?;
    Secret::from_bytes(bytes.as_ref()).map_err(|error| Failure::usage(error.to_string()))
}

/// The arguments of a call.
pub(crate) fn arguments(source: &str) -> Result<Map<String, Value>, Failure> {
    object(source, "the arguments are", r#"{"snack": "fruit"}"#)
}

/// The answer to what a task asks.
pub(crate) fn answer(source: &str) -> Result<Map<String, Value>, Failure> {
    object(source, "the answer is", r#"{"taste": "sweet"}"#)
}

/// A JSON object: the text itself, or from where it says. What it is, and an example, are for the error.
fn object(source: &str, what_is: &str, example: &str) -> Result<Map<String, Value>, Failure> {
    let text = if source == "-" {
        let mut text = String::new();
        std::io::stdin()
            .read_to_string(&mut text)
            .map_err(|error| Failure::usage(format!("standard input can't be read: {error}")))?;
        text
    } else if let Some(path) = source.strip_prefix('@') {
        read(Path::new(path))?.to_string()
    } else {
        source.to_owned()
    };
    match serde_json::from_str(&text) {
        Ok(Value::Object(arguments)) => Ok(arguments),
        Ok(_) => Err(Failure::usage(format!("{what_is} no JSON object"))
            .hint(format!("give values by name, as in '{example}'"))),
        Err(error) => Err(Failure::usage(format!("{what_is} not JSON: {error}"))
            .hint(format!("quote it for the shell, as in '{example}'"))),
    }
}

pub(crate) fn speak_for_asker(
    builder: ClientBuilder,
    args: AskerArgs,
) -> Result<ClientBuilder, Failure> {
    speak_for_installation(builder.asker(args.asker), args.installation)
}

pub(crate) fn speak_for_installation(
    mut builder: ClientBuilder,
    args: InstallationArgs,
) -> Result<ClientBuilder, Failure> {
    builder = builder.installation(args.installation);
    for setting in args.settings {
        let (key, value) = setting_value(&setting)?;
        builder = builder.setting(key, value);
    }
    Ok(builder)
}

pub(crate) fn name_request(builder: ClientBuilder, args: RequestArgs) -> ClientBuilder {
    match args.webhook_id {
        Some(id) => builder.webhook_id(id),
        None => builder,
    }
}

fn builder(global: &Global, secret: Secret) -> ClientBuilder {
    let builder = Client::builder(&global.url, secret)
        .deadline(global.deadline)
        .clock_skew_secs(global.skew);
    if global.allow_http {
        builder.allow_plain_http()
    } else {
        builder
    }
}

/// The secret of the command line, else of the file, else of the environment.
fn secret(global: &Global) -> Result<Secret, Failure> {
    let (place, text) = if let Some(secret) = &global.secret {
        ("--secret".to_owned(), secret.0.clone())
    } else if let Some(path) = &global.secret_file {
        (path.display().to_string(), read(path)?)
    } else {
        match env::var(SECRET_VARIABLE) {
            Ok(text) => (SECRET_VARIABLE.to_owned(), Zeroizing::new(text)),
            Err(env::VarError::NotUnicode(_)) => {
                return Err(Failure::usage(format!("{SECRET_VARIABLE} is not text")));
            }
            Err(env::VarError::NotPresent) => {
                return Err(Failure::usage("there is no signing secret").hint(format!(
                    "set {SECRET_VARIABLE} to the extension's, or give --secret-file"
                )));
            }
        }
    };
    text.trim()
        .parse()
        .map_err(|error| Failure::usage(format!("the secret in {place} can't be used: {error}")))
}

fn read(path: &Path) -> Result<Zeroizing<String>, Failure> {
    fs::read_to_string(path)
        .map(Zeroizing::new)
        .map_err(|error| Failure::usage(format!("{} can't be read: {error}", path.display())))
}

/// A setting's key and value. JSON booleans, numbers and texts are what they are; all else is a text as it
/// stands.
fn setting_value(setting: &str) -> Result<(String, Value), Failure> {
    let Some((key, text)) = setting.split_once('=').filter(|(key, _)| !key.is_empty()) else {
        return Err(
            Failure::usage(format!("the setting {setting:?} has no `=` after its key"))
                .hint("give it as in --setting greeting=Hello"),
        );
    };
    let value = match serde_json::from_str(text) {
        Ok(value @ (Value::Bool(_) | Value::Number(_) | Value::String(_))) => value,
        _ => Value::String(text.to_owned()),
    };
    Ok((key.to_owned(), value))
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    #[test]
    fn settings_are_what_their_json_says_or_else_texts() {
        for (setting, value) in [
            ("k=true", json!(true)),
            ("k=5", json!(5)),
            ("k=-1.5", json!(-1.5)),
            ("k=\"5\"", json!("5")),
            ("k=Hello, you", json!("Hello, you")),
            ("k=a=b", json!("a=b")),
            ("k=", json!("")),
            ("k=null", json!("null")),
            ("k={}", json!("{}")),
        ] {
            assert_eq!(
                setting_value(setting).unwrap(),
                ("k".to_owned(), value),
                "{setting}"
            );
        }
        assert!(setting_value("k").is_err());
        assert!(setting_value("=v").is_err());
    }
}
