//! What must hold of an exchange for a secret that is repeated in it to be found: the answer comes whole and as it is.

use reqwest::header::{
    ACCEPT_CHARSET, ACCEPT_ENCODING, CONTENT_ENCODING, CONTENT_RANGE, HeaderMap, HeaderName,
    HeaderValue, IF_RANGE, RANGE, TRANSFER_ENCODING,
};

use super::network::Answered;

/// Asks for the difference to an earlier answer (RFC 3229).
const A_IM: HeaderName = HeaderName::from_static("a-im");

/// Headers that ask for an answer in another form, or in parts.
const ASKING: [HeaderName; 5] = [ACCEPT_ENCODING, ACCEPT_CHARSET, RANGE, IF_RANGE, A_IM];

/// The statuses of answers that are parts: `Partial Content`, and `IM Used`.
const PARTIAL: [u16; 2] = [206, 226];

/// Whether a header asks for an answer in which a secret would not be found.
pub(super) fn asks_for_disguise(name: &HeaderName) -> bool {
    ASKING.contains(name)
}

/// Makes a request one whose answer comes as it is.
///
/// # Errors
/// The header that asks for something else.
pub(super) fn ask_plainly(headers: &mut HeaderMap) -> Result<(), HeaderName> {
    if let Some(name) = headers.keys().find(|name| asks_for_disguise(name)) {
        return Err(name.clone());
    }
    headers.insert(ACCEPT_ENCODING, HeaderValue::from_static("identity"));
    Ok(())
}

/// Whether an answer is whole and as it is, whatever was asked for.
///
/// # Errors
/// What it is instead.
pub(super) fn check_plain(answered: &Answered) -> Result<(), &'static str> {
    let headers = &answered.headers;
    let all = |name: HeaderName, usual: &'static [u8]| {
        let mut values = headers.get_all(name).iter();
        values.all(|value| value.as_bytes().eq_ignore_ascii_case(usual))
    };
    if !all(CONTENT_ENCODING, b"identity") || !all(TRANSFER_ENCODING, b"chunked") {
        return Err("the answer is compressed, although the request did not accept that");
    }
    if PARTIAL.contains(&answered.status) || headers.contains_key(CONTENT_RANGE) {
        return Err("the answer is a part, although the request did not ask for one");
    }
    Ok(())
}
