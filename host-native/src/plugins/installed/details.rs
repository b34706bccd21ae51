//! What else two versions of a component can differ in: too much to be read where one is installed, and worth a look where it changes.

use sha2::{Digest as _, Sha256};

use crate::plugins::{asked::DeclaredSecret, declaration::Declaration, limits::DeclaredLimits};

/// Bytes of a description that are kept to be compared.
const LONGEST: usize = 200;

impl Declaration {
    /// The limits that it declares, a line each, and what it says of its secrets. [`asks`](Self::asks) has the rest.
    #[must_use]
    pub fn details(&self) -> Vec<String> {
        let mut details = limits(&self.limits);
        details.extend(self.tools.iter().filter_map(|tool| {
            let most = tool.timeout_ms?;
            Some(format!("run the tool {} for at most {most} ms", tool.name))
        }));
        details.extend(self.grants.secrets.iter().map(described));
        details
    }
}

/// The limits that are declared.
fn limits(limits: &DeclaredLimits) -> Vec<String> {
    let bytes = |most: Option<usize>, does: &str, what: &str| {
        most.map(|most| format!("{does} at most {most} bytes {what}"))
    };
    let time = limits.timeout_ms;
    let calls = limits.host_calls;
    let all = [
        bytes(limits.memory_bytes, "use", "of memory"),
        time.map(|most| format!("run for at most {most} ms")),
        bytes(limits.output_bytes, "give", "of result"),
        bytes(limits.log_bytes, "log", "of text"),
        calls.map(|most| format!("call the host at most {most} times")),
        bytes(limits.http_bytes, "move", "over HTTP"),
    ];
    all.into_iter().flatten().collect()
}

/// What a declaration says of a secret. Of a long text there is the beginning, and what tells it from another one.
fn described(secret: &DeclaredSecret) -> String {
    let about = &secret.description;
    let shown = &about[..about.floor_char_boundary(LONGEST)];
    let rest = match shown.len() == about.len() {
        true => String::new(),
        false => {
            let digest = format!("{:x}", Sha256::digest(about));
            format!("… (sha256:{})", &digest[..16])
        }
    };
    format!("use the secret {}, said to be: {shown}{rest}", secret.name)
}
