//! Describes to the model what the sandbox refused a command: connections refused by the proxies, and refused file
//! accesses recognized in the command's output.

use std::{collections::BTreeMap, path::Path};

use globset::GlobBuilder;

use super::{policy::Files, proxy::Refusal};

/// The maximum number reported.
const LIMIT: usize = 20;

/// What programs print when a file cannot be changed or opened.
const REFUSALS: [(&str, &str); 3] = [
    (": Read-only file system", "is not open to be written"),
    (": Permission denied", "is closed"),
    (": Operation not permitted", "is not open to be changed"),
];

/// The list of refusals.
#[derive(Debug, Default, PartialEq, Eq)]
pub(super) struct Violations(Vec<Violation>);

#[derive(Debug, PartialEq, Eq)]
struct Violation {
    /// `file` or `network`, as the settings have it.
    category: &'static str,
    /// The path or the host.
    what: String,
    words: String,
}

impl Violations {
    /// Collects refusals from a command's standard error and from the proxies.
    pub(super) fn of(stderr: &str, refused: Vec<Refusal>, files: &Files) -> Self {
        let network = refused.into_iter().map(|refusal| Violation {
            category: "network",
            words: format!("network: {}", refusal.reason),
            what: refusal.host,
        });
        let mut all: Vec<Violation> = network.collect();
        for violation in stderr
            .lines()
            .filter_map(|line| file_violation(line, files))
        {
            if !all.contains(&violation) {
                all.push(violation);
            }
        }
        Self(all)
    }

    /// Removes those that the settings ignore.
    pub(super) fn without(mut self, ignored: &BTreeMap<String, Vec<String>>) -> Self {
        self.0.retain(|violation| {
            let patterns = ignored.get(violation.category).into_iter().flatten();
            !patterns
                .into_iter()
                .any(|pattern| covers(pattern, violation))
        });
        self
    }

    /// As text to append to the command's output.
    pub(super) fn told(&self) -> Option<String> {
        if self.0.is_empty() {
            return None;
        }
        let mut lines: Vec<&str> = self
            .0
            .iter()
            .map(|it| it.words.as_str())
            .take(LIMIT)
            .collect();
        lines.insert(0, "<sandbox_violations>");
        lines.push("</sandbox_violations>");
        Some(lines.join("\n"))
    }
}

/// Parses `program: cannot touch 'PATH': Read-only file system`: the last quoted text, or the last word before.
fn file_violation(line: &str, files: &Files) -> Option<Violation> {
    let (before, words) = REFUSALS
        .iter()
        .find_map(|(end, words)| Some((line.trim_end().strip_suffix(end)?, *words)))?;
    let path = match before.strip_suffix(['\'', '"', '’']) {
        Some(quoted) => quoted.rsplit(['\'', '"', '‘']).next()?,
        None => before.rsplit(": ").next()?.rsplit(' ').next()?,
    };
    // A refusal in a writable folder did not come from the sandbox.
    let is_open = Path::new(path).is_relative()
        || files
            .open
            .iter()
            .any(|open| Path::new(path).starts_with(open));
    let is_closed = |list: &[std::path::PathBuf]| {
        list.iter()
            .any(|closed| Path::new(path).starts_with(closed))
    };
    let is_ours = !is_open
        || line.ends_with("Read-only file system")
        || is_closed(&files.closed)
        || files
            .closed
            .iter()
            .any(|closed| closed.ends_with(path.trim_start_matches("./")));
    (!path.is_empty() && is_ours).then(|| Violation {
        category: "file",
        what: path.to_owned(),
        words: format!("file: {path} {words}"),
    })
}

fn covers(pattern: &str, violation: &Violation) -> bool {
    let glob = GlobBuilder::new(pattern).build();
    let host = violation.what.rsplit_once(':').map(|(host, _)| host);
    glob.is_ok_and(|glob| {
        let glob = glob.compile_matcher();
        glob.is_match(&violation.what)
            || (violation.category == "network" && host.is_some_and(|host| glob.is_match(host)))
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_was_refused_is_told_unless_the_settings_ignore_it() {
        let files = Files {
            open: vec!["/w".into()],
            closed: vec!["/w/.env".into()],
            ..Files::default()
        };
        let stderr = "touch: cannot touch '/etc/x': Read-only file system\n\
            bash: line 1: /tmp/log: Read-only file system\n\
            cat: .env: Permission denied\n\
            cat: other: Permission denied\n\
            something else\n";
        let refused = vec![Refusal {
            host: "evil.test:443".to_owned(),
            reason: "evil.test:443 is not among the allowed domains".to_owned(),
        }];
        let told = Violations::of(stderr, refused.clone(), &files)
            .told()
            .unwrap();
        assert_eq!(
            told.lines().collect::<Vec<_>>(),
            [
                "<sandbox_violations>",
                "network: evil.test:443 is not among the allowed domains",
                "file: /etc/x is not open to be written",
                "file: /tmp/log is not open to be written",
                "file: .env is closed",
                "</sandbox_violations>",
            ]
        );
        let ignored = BTreeMap::from([
            (
                "file".to_owned(),
                vec!["/tmp/*".to_owned(), "/etc/**".to_owned(), ".env".to_owned()],
            ),
            ("network".to_owned(), vec!["*.test".to_owned()]),
        ]);
        assert_eq!(
            Violations::of(stderr, refused, &files)
                .without(&ignored)
                .told(),
            None
        );
    }
}
