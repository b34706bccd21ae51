//! What a component asks for beyond files of the workspace, for whoever shall grant it.

use serde_json::{Value, json};
use windlass::{
    core::tool::Access,
    plugins::{DeclaredGrants, StateScope},
};

use crate::cli::plain::{fit, one_line};

/// The columns that the description of a directory or a secret may take.
const DESCRIPTION: usize = 72;

/// As lines, each with a label.
pub(super) fn as_lines(grants: &DeclaredGrants) -> Vec<(&'static str, String)> {
    let mut lines = Vec::new();
    for asked in &grants.directories {
        let does = match asked.access {
            Access::Read => "reading",
            Access::Write => "reading and writing",
        };
        let about = one_line(&asked.description);
        let about = fit(&about, DESCRIPTION);
        lines.push((
            "directory",
            format!("{} ({does}): {about}", one_line(&asked.role)),
        ));
    }
    let origins: Vec<String> = grants.http.iter().map(ToString::to_string).collect();
    let network = match origins.is_empty() {
        true => "none".to_owned(),
        false => one_line(&origins.join(", ")),
    };
    lines.push(("network", network));
    for secret in &grants.secrets {
        let audience: Vec<&str> = secret
            .audience
            .iter()
            .map(|origin| origin.as_str())
            .collect();
        let about = one_line(&secret.description);
        let (name, about) = (one_line(&secret.name), fit(&about, DESCRIPTION));
        lines.push((
            "secret",
            format!("{name} for {}: {about}", audience.join(", ")),
        ));
    }
    if !grants.env.is_empty() {
        lines.push(("variables", one_line(&grants.env.join(", "))));
    }
    match grants.state {
        StateScope::None => {}
        StateScope::Session => lines.push(("state", "while a session lasts".to_owned())),
        StateScope::Durable => lines.push(("state", "kept in files".to_owned())),
    }
    lines
}

/// The directories of roles as JSON.
pub(super) fn directories_as_json(grants: &DeclaredGrants) -> Value {
    let directories = grants.directories.iter().map(|asked| {
        json!({
            "role": asked.role,
            "access": asked.access,
            "description": asked.description,
        })
    });
    directories.collect()
}

/// The secrets as JSON.
pub(super) fn secrets_as_json(grants: &DeclaredGrants) -> Value {
    let secrets = grants.secrets.iter().map(|secret| {
        json!({
            "name": secret.name,
            "description": secret.description,
            "audience": secret.audience,
        })
    });
    secrets.collect()
}
