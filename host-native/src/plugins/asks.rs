//! What a component asks for, in lines that a person can compare.

use windlass_core::tool::Access;

use super::{
    authority::Authority,
    declaration::{Declaration, DeclaredAccess, DeclaredTool, InstanceScope},
    declared_hook::DeclaredHook,
    grant::{ComponentGrant, GrantError},
    inspect::Inspection,
    state::StateScope,
};

impl Declaration {
    /// What the component asks for beyond running, a line for each thing, and its tools and hooks with what decides how far they reach.
    #[must_use]
    pub fn asks(&self) -> Vec<String> {
        let grants = &self.grants;
        let mut asks = Vec::new();
        match grants.filesystem {
            DeclaredAccess::None => {}
            DeclaredAccess::Read => asks.push("read files".to_owned()),
            DeclaredAccess::Write => asks.push("read and write files".to_owned()),
        }
        asks.extend(grants.directories.iter().map(|asked| {
            let does = match asked.access {
                Access::Read => "read",
                Access::Write => "read and write",
            };
            format!(
                "{does} the directory `{}`: {}",
                asked.role, asked.description
            )
        }));
        asks.extend(
            grants
                .http
                .iter()
                .map(|origin| format!("requests to {origin}")),
        );
        asks.extend(grants.secrets.iter().map(|secret| {
            let audience: Vec<&str> = secret
                .audience
                .iter()
                .map(|origin| origin.as_str())
                .collect();
            format!("use the secret {} for {}", secret.name, audience.join(", "))
        }));
        asks.extend(
            grants
                .env
                .iter()
                .map(|name| format!("read the variable {name}")),
        );
        match grants.state {
            StateScope::None => {}
            StateScope::Session => asks.push("remember while a session lasts".to_owned()),
            StateScope::Durable => asks.push("remember for good".to_owned()),
        }
        if self.instance == InstanceScope::Session {
            asks.push("keep its memory for the session".to_owned());
        }
        asks.extend(self.tools.iter().map(tool_line));
        asks.extend(self.hooks.iter().map(hook_line));
        asks
    }
}

/// A tool with the files that it names and whether it is said to change nothing: calls of such a tool are asked about less.
fn tool_line(tool: &DeclaredTool) -> String {
    let writes = tool.paths.iter().any(|path| path.access == Access::Write);
    let changes = match tool.annotations.read_only && !writes {
        true => " (declared read-only)",
        false => "",
    };
    let paths: Vec<String> = tool
        .paths
        .iter()
        .map(|path| {
            let does = match path.access {
                Access::Read => "reads",
                Access::Write => "writes",
            };
            format!("{does} the file in `{}`", path.field)
        })
        .collect();
    let which = match paths.is_empty() {
        true => String::new(),
        false => format!(", which {}", paths.join(" and ")),
    };
    format!("offer the tool {}{changes}{which}", tool.name)
}

/// A hook with what it runs for, and how long it may take.
fn hook_line(hook: &DeclaredHook) -> String {
    let matcher = hook.matcher.to_string();
    let of = match matcher.as_str() {
        "" => String::new(),
        matcher => format!(" of {matcher}"),
    };
    let time = hook.timeout_ms.map(|ms| format!(", for at most {ms} ms"));
    format!(
        "run the {} {} at {}{of}{}",
        hook.kind.word(),
        hook.name,
        hook.event.name(),
        time.unwrap_or_default()
    )
}

impl Inspection {
    /// What the component asks for ([`Declaration::asks`]).
    #[must_use]
    pub fn asks(&self) -> Vec<String> {
        self.declaration.asks()
    }

    /// Checks a grant against what the component declares.
    ///
    /// # Errors
    /// [`GrantError`]: something is granted for which it does not ask.
    pub fn check_grant(&self, grant: &ComponentGrant) -> Result<(), GrantError> {
        Authority::of(&self.declaration.grants, grant).map(drop)
    }

    /// Checks that a person who names files grants no more of them than the component asks for. A component that is loaded with more
    /// has what it asks for: this is for those who would be misled by what they named.
    ///
    /// # Errors
    /// [`GrantError::Files`], [`GrantError::FilesAccess`].
    pub fn check_files(&self, grant: &ComponentGrant) -> Result<(), GrantError> {
        let granted = grant.directories.roots().iter().map(|root| root.access);
        match (granted.max(), self.declaration.grants.filesystem.access()) {
            (Some(_), None) => Err(GrantError::Files),
            (granted, asked) if granted > asked => Err(GrantError::FilesAccess),
            _ => Ok(()),
        }
    }
}
