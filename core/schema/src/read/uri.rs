//! URIs of schemas: the parts of RFC 3986 that references need.

use alloc::{borrow::ToOwned, string::String, vec::Vec};

/// The parts of a reference before its fragment. All except the path include their delimiter: `https:`, `//host`, `?query`.
struct Parts<'u> {
    scheme: &'u str,
    authority: &'u str,
    path: &'u str,
    query: &'u str,
}

impl<'u> Parts<'u> {
    fn of(uri: &'u str) -> Self {
        let has_scheme = |at: &usize| {
            let name = &uri[..*at];
            name.starts_with(|c: char| c.is_ascii_alphabetic())
                && name
                    .chars()
                    .all(|c| c.is_ascii_alphanumeric() || "+-.".contains(c))
        };
        let scheme = uri.find(':').filter(has_scheme).map_or(0, |at| at + 1);
        let (scheme, rest) = uri.split_at(scheme);
        let (rest, query) = rest.split_at(rest.find('?').unwrap_or(rest.len()));
        let path = match rest.strip_prefix("//") {
            Some(behind) => behind.find('/').map_or(rest.len(), |at| at + 2),
            None => 0,
        };
        let (authority, path) = rest.split_at(path);
        Self {
            scheme,
            authority,
            path,
            query,
        }
    }
}

/// Resolves a reference without fragment against the URI of its document (section 5.2.2).
pub(super) fn join(base: &str, reference: &str) -> String {
    let (base, to) = (Parts::of(base), Parts::of(reference));
    if !to.scheme.is_empty() {
        return [to.scheme, to.authority, &without_dots(to.path), to.query].concat();
    }
    if !to.authority.is_empty() {
        return [base.scheme, to.authority, &without_dots(to.path), to.query].concat();
    }
    let (path, query) = if to.path.is_empty() {
        let query = if to.query.is_empty() {
            base.query
        } else {
            to.query
        };
        (base.path.to_owned(), query)
    } else if to.path.starts_with('/') {
        (without_dots(to.path), to.query)
    } else if base.path.is_empty() && !base.authority.is_empty() {
        (without_dots(&["/", to.path].concat()), to.query)
    } else {
        let folder = base.path.rfind('/').map_or(0, |at| at + 1);
        (
            without_dots(&[&base.path[..folder], to.path].concat()),
            to.query,
        )
    };
    [base.scheme, base.authority, &path, query].concat()
}

/// Removes the segments `.` and `..` (section 5.2.4).
fn without_dots(path: &str) -> String {
    if !path.split('/').any(|step| step == "." || step == "..") {
        return path.to_owned();
    }
    let mut steps: Vec<&str> = Vec::new();
    let last = path.rsplit('/').next().unwrap_or("");
    for (i, step) in path.split('/').enumerate() {
        match step {
            "." => {}
            // The part before the first slash of an absolute path is not a segment.
            ".." if steps.len() > usize::from(path.starts_with('/')) => {
                steps.pop();
            }
            ".." if i > 0 || path.starts_with('/') => {}
            step => steps.push(step),
        }
    }
    if last == "." || last == ".." {
        steps.push("");
    }
    steps.join("/")
}

/// The decoded text of a fragment; none if it is not UTF-8, or if a `%` begins no escape.
pub(super) fn percent_decoded(text: &str) -> Option<String> {
    let mut out = Vec::with_capacity(text.len());
    let mut bytes = text.bytes();
    while let Some(byte) = bytes.next() {
        if byte != b'%' {
            out.push(byte);
            continue;
        }
        let mut digit = || char::from(bytes.next()?).to_digit(16);
        let value = digit()? * 16 + digit()?;
        out.push(u8::try_from(value).ok()?);
    }
    String::from_utf8(out).ok()
}

#[cfg(test)]
mod tests {
    use super::join;

    #[test]
    fn references_are_resolved_as_rfc_3986_says() {
        // Examples of section 5.4, without fragments.
        let base = "http://a/b/c/d;p?q";
        for (reference, target) in [
            ("g:h", "g:h"),
            ("g", "http://a/b/c/g"),
            ("./g", "http://a/b/c/g"),
            ("g/", "http://a/b/c/g/"),
            ("/g", "http://a/g"),
            ("//g", "http://g"),
            ("?y", "http://a/b/c/d;p?y"),
            ("g?y", "http://a/b/c/g?y"),
            (";x", "http://a/b/c/;x"),
            ("", "http://a/b/c/d;p?q"),
            (".", "http://a/b/c/"),
            ("./", "http://a/b/c/"),
            ("..", "http://a/b/"),
            ("../g", "http://a/b/g"),
            ("../..", "http://a/"),
            ("../../g", "http://a/g"),
            ("../../../g", "http://a/g"),
            ("/./g", "http://a/g"),
            ("/../g", "http://a/g"),
            ("g.", "http://a/b/c/g."),
            ("..g", "http://a/b/c/..g"),
            ("./../g", "http://a/b/g"),
            ("g/./h", "http://a/b/c/g/h"),
            ("g/../h", "http://a/b/c/h"),
            ("g?y/../x", "http://a/b/c/g?y/../x"),
        ] {
            assert_eq!(join(base, reference), target, "{reference}");
        }
        for (base, reference, target) in [
            ("", "item.json", "item.json"),
            (
                "https://example.org",
                "x.json",
                "https://example.org/x.json",
            ),
            ("urn:uuid:0-1", "", "urn:uuid:0-1"),
            ("file:///c:/folder/file.json", "x", "file:///c:/folder/x"),
            ("a.json", "b.json", "b.json"),
        ] {
            assert_eq!(join(base, reference), target, "{base} {reference}");
        }
    }
}
