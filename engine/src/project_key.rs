//! The name under which a working directory's sessions are kept.

/// Characters of a directory's name that stay; a hash tells longer ones apart.
const LONGEST_KEY: usize = 200;

/// The name of a path, which is real and in NFC: everything but ASCII letters and digits as `-`. Names over 200 characters
/// are cut and end in a hash of the whole path.
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
