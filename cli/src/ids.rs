//! Fresh ids.

use crate::error::{ClientError, Inner};

/// A new id: the prefix and 128 random bits in hexadecimal.
pub(crate) fn fresh(prefix: &str) -> Result<String, ClientError> {
    let mut bytes = [0; 16];
    getrandom::fill(&mut bytes).map_err(Inner::Randomness)?;
    Ok(format!("{prefix}_{:032x}", u128::from_be_bytes(bytes)))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn no_two_ids_are_the_same() {
        let (one, two) = (fresh("msg").unwrap(), fresh("msg").unwrap());
        assert_ne!(one, two);
        assert_eq!(one.len(), "msg_".len() + 32);
        assert!(one.starts_with("msg_"));
    }
}
