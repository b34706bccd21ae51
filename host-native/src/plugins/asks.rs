//! What a component asks for, in lines that a person can compare.

use windlass_core::tool::Access;

use super::{
    authority::Authority,
    declaration::{DeclaredAccess, InstanceScope},
    grant::{ComponentGrant, GrantError},
    inspect::Inspection,
    state::StateScope,
};

impl Inspection {
    /// What the component asks for beyond running, a line for each thing, and its tools and hooks.
    #[must_use]
    pub fn asks(&self) -> Vec<String> {
        let declaration = &self.declaration;
        let grants = &declaration.grants;
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
        if declaration.instance == InstanceScope::Session {
            asks.push("keep its memory for the session".to_owned());
        }
        asks.extend(
            declaration
                .tools
                .iter()
                .map(|tool| format!("offer the tool {}", tool.name)),
        );
        asks.extend(declaration.hooks.iter().map(|hook| {
            format!(
                "run the {} {} at {}",
                hook.kind.word(),
                hook.name,
                hook.event.name()
            )
        }));
        asks
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
