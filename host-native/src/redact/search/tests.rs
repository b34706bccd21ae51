use bytes::Bytes;

use super::{super::REPLACEMENT, super::Redactor, *};

const KEY: &str = "SE~cr/t+5=%41\\x\"y-ü 0123456789";

fn redactor(keys: &[&str]) -> Redactor {
    let keys: Vec<SecretString> = keys.iter().map(|key| SecretString::from(*key)).collect();
    Redactor::of_secrets(&keys, 8)
}

fn in_pieces(redactor: &Redactor, text: &str, size: usize) -> String {
    let mut stream = redactor.stream();
    let pieces = text.as_bytes().chunks(size);
    let mut clean: Vec<u8> = pieces
        .flat_map(|piece| stream.take(Bytes::copy_from_slice(piece)))
        .collect();
    clean.extend_from_slice(&stream.finish());
    String::from_utf8(clean).unwrap()
}

/// The key with every byte that a function names percent-encoded.
fn percent(upper: impl Fn(usize) -> bool, is_code: impl Fn(usize, u8) -> bool) -> String {
    let bytes = KEY.bytes().enumerate().map(|(at, byte)| {
        let written = match (is_code(at, byte) || !byte.is_ascii(), upper(at)) {
            (false, _) => vec![byte],
            (true, true) => format!("%{byte:02X}").into_bytes(),
            (true, false) => format!("%{byte:02x}").into_bytes(),
        };
        String::from_utf8(written).unwrap()
    });
    bytes.collect()
}

fn lines(text: &str, width: usize, end: &str) -> String {
    let lines = text.as_bytes().chunks(width);
    let lines: Vec<&str> = lines
        .map(|line| std::str::from_utf8(line).unwrap())
        .collect();
    lines.join(end)
}

/// How encoders write the key.
fn notations() -> Vec<String> {
    let is_word = |byte: u8| byte.is_ascii_alphanumeric();
    let search_params = percent(
        |_| true,
        |_, byte| !is_word(byte) && !b"*-._".contains(&byte),
    );
    let python = percent(
        |_| true,
        |_, byte| !is_word(byte) && !b"/_.-~".contains(&byte),
    );
    let every = percent(|_| false, |_, _| true);
    let json = serde_json::Value::from(KEY).to_string();
    let units = KEY.encode_utf16();
    let hex = hex(KEY);
    let mut notations = vec![
        search_params.replace("%20", "+"),
        python.replace('/', r"\/"),
        search_params,
        python,
        every.to_uppercase(),
        every,
        percent(|at| at % 2 == 0, |_, _| true),
        percent(|at| at % 3 == 0, |at, byte| at % 2 == 0 || byte == b'%'),
        // Who encodes takes the percent sign for a part of a code.
        percent(|_| true, |_, byte| !is_word(byte) && byte != b'%'),
        json[1..json.len() - 1].to_owned(),
        units.map(|unit| format!("\\u{unit:04x}")).collect(),
        lines(&hex, 60, "\n"),
        hex.bytes()
            .enumerate()
            .map(|(at, digit)| match at % 3 {
                0 => char::from(digit).to_ascii_uppercase(),
                _ => char::from(digit),
            })
            .collect(),
    ];
    for before in ["", "x", "xy", "user:"] {
        for engine in [&STANDARD_NO_PAD, &URL_SAFE_NO_PAD] {
            let text = engine.encode(format!("{before}{KEY}"));
            for end in ["\n", "\r\n", "\r\n\r\n", r"\n", r"\r\n", "%0D%0A"] {
                notations.extend([1, 7, 64, 76].map(|width| lines(&text, width, end)));
            }
            notations.push(text.replace('+', "%2b").replace('/', "%2F"));
            notations.push(text.replace('/', r"\/"));
        }
    }
    notations
}

#[test]
fn card_5_a_secret_is_found_however_its_bytes_are_written() {
    let redactor = redactor(&[KEY]);
    for notation in notations() {
        let text = format!("it is {notation} today");
        let clean = redactor.text(&text).into_owned();
        assert!(clean.contains(REPLACEMENT), "{notation}: {clean}");
        // At most what the key shares with its neighbours in base64 is left, with line ends.
        assert!(clean.len() < 80, "{notation}: {clean}");
        for size in [1, 2, 5, 16] {
            assert_eq!(in_pieces(&redactor, &text, size), clean, "{size}");
        }
    }
}

#[test]
fn card_5_what_is_no_secret_is_left_as_it_is() {
    let redactor = redactor(&[KEY]);
    for text in [
        "100% of 50%, %4, %zz and %25, C:\\new\\u00 \\ud83d\\ude00 \\ud83d",
        "SE~cr/t+5=%41",
        "SE%7Ecr/t%2B5",
        "U0V+Y3IvdCs1PSU0\n\n\n",
        "%",
        "\\",
        "\\u00",
    ] {
        assert_eq!(redactor.text(text), text);
        for size in [1, 2, 7] {
            assert_eq!(in_pieces(&redactor, text, size), text, "{size}");
        }
    }
}

#[test]
fn card_5_a_secret_that_begins_like_another_is_found_as_the_longer_one() {
    let redactor = redactor(&["abcdefgh", "abcdefgh12345678", "efghijkl"]);
    let text = "abcdefgh1234, abcdefgh12345678, abcdefghijkl, abcdefgh";
    let clean = "[key]1234, [key], [key], [key]";
    assert_eq!(redactor.text(text), clean);
    for size in [1, 8, 12, 20] {
        assert_eq!(in_pieces(&redactor, text, size), clean, "{size}");
    }
    let periodic = self::redactor(&["abababab"]);
    for size in [1, 3, 8, 9] {
        let clean = in_pieces(&periodic, "abababababababababaxabababab", size);
        assert_eq!(clean, "[key]ax[key]", "{size}");
    }
}

/// Each of these would take hours if what may begin a key was read once more for every byte.
#[test]
fn card_5_no_text_takes_longer_to_search_than_another() {
    const LENGTH: usize = 4 << 20;
    let long = format!("{}b", "a".repeat(4 << 10));
    let periodic = redactor(&[KEY, &long]);
    let begun = &KEY[..KEY.len() - 1];
    let base64 = STANDARD_NO_PAD.encode(begun);
    for unit in [
        "%",
        "%6",
        "%61",
        "a",
        "\\",
        "\\u006",
        "\n",
        begun,
        &lines(&base64, 1, "\n"),
    ] {
        let text = unit.repeat(LENGTH / unit.len());
        assert_eq!(periodic.text(&text), text, "{unit}");
        let mut stream = periodic.stream();
        let pieces = text.as_bytes().chunks(64 << 10);
        let pieces = pieces.map(|piece| stream.take(Bytes::copy_from_slice(piece)).len());
        let passed: usize = pieces.sum();
        let held = stream.finish().len();
        assert_eq!(passed + held, text.len(), "{unit}");
        // What is held back is no longer than the longest form, however it is written.
        assert!(held <= 6 * long.len(), "{unit}: {held}");
    }
}
