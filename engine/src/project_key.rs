//! The name under which the sessions of a working directory are kept.

/// The maximum length of the kept part of a directory's name; a hash distinguishes longer names.
const LONGEST_KEY: usize = 200;

/// The key of a path, which must be real and in NFC: every character except ASCII letters and digits is replaced by `-`. A
/// key of more than 200 characters is cut and ends in a hash of the whole path.
///
/// Characters are counted as UTF-16 code units, as the official engine does.
#[must_use]
pub fn key_of(path: &str) -> String {
    let key: String = path
        .encode_utf16()
        .map(|unit| match char::from_u32(u32::from(unit)) {
            Some(c) if c.is_ascii_alphanumeric() => c,
            _ => '-',
        })
        .collect();
    if key.len() <= LONGEST_KEY {
        return key;
    }
    let hash = path.encode_utf16().fold(0_i32, |hash, unit| {
        hash.wrapping_mul(31).wrapping_add(i32::from(unit))
    });
    format!("{}-{}", &key[..LONGEST_KEY], base_36(hash.unsigned_abs()))
}

fn base_36(mut number: u32) -> String {
    let mut digits = Vec::new();
    loop {
        digits.extend(char::from_digit(number % 36, 36));
        number /= 36;
        if number == 0 {
            return digits.into_iter().rev().collect();
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn sess_1_a_working_directory_is_named_as_the_sdks_name_it() {
        assert_eq!(key_of("/workspace"), "-workspace");
        assert_eq!(key_of("/a b/c.d_e"), "-a-b-c-d-e");
        // A character outside the basic plane is two code units.
        assert_eq!(key_of("/é/😀"), "-----");
    }

    #[test]
    fn sess_1_long_names_end_in_a_hash() {
        let path = format!("/{}", "x".repeat(250));
        let key = key_of(&path);
        assert_eq!(key.len(), 200 + 1 + 6);
        assert_eq!(&key[..3], "-xx");
        assert_eq!(&key[200..], "-v734pd");
        assert_ne!(key, key_of(&format!("{path}y")));
        assert_eq!(key_of(&format!("/{}", "x".repeat(199))).len(), 200);
    }
}
