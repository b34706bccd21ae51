//! What became of connecting to an MCP server, for people.

use serde_json::{Map, Value};
use windlass::{
    core::RawJson,
    mcp::{ConnectError, Connection, ServerConfig},
};

/// What became of connecting to a server.
pub(super) enum Reached {
    Connected(Box<Offered>),
    /// It lets nobody in who has not signed in.
    NeedsAuth(String),
    Failed(String),
    /// It was not tried: the folder names it, and nobody has trusted that.
    Untrusted,
}

/// A connected server, and what it offers.
pub(super) struct Offered {
    connection: Connection,
    /// By kind: what there is, or why it cannot be listed.
    others: [(&'static str, Result<Vec<String>, String>); 2],
}

/// Connects to a server and asks what it offers.
pub(super) async fn reach(config: &ServerConfig) -> Reached {
    let connection = match config.connect().await {
        Ok(connection) => connection,
        Err(ConnectError::NeedsAuth { reason }) => return Reached::NeedsAuth(reason),
        Err(error) => return Reached::Failed(error.to_string()),
    };
    let names = |entries: Vec<RawJson>, key: &str| -> Vec<String> {
        let entries = entries
            .iter()
            .map(|entry| entry.decode::<Map<String, Value>>());
        let entries = entries.filter_map(Result::ok);
        entries
            .filter_map(|entry| Some(entry.get(key)?.as_str()?.to_owned()))
            .collect()
    };
    let resources = connection.resources().await;
    let prompts = connection.prompts().await;
    let others = [
        ("resources", resources.map(|entries| names(entries, "uri"))),
        ("prompts", prompts.map(|entries| names(entries, "name"))),
    ];
    Reached::Connected(Box::new(Offered { connection, others }))
}

/// Calls tools, one after the other. Returns what to print, and whether every call succeeded.
pub(super) async fn call(
    reached: &Reached,
    calls: Vec<(String, Map<String, Value>)>,
) -> (String, bool) {
    let Reached::Connected(offered) = reached else {
        return (reached.in_full(), false);
    };
    let (mut text, mut is_well) = (String::new(), true);
    for (tool, input) in calls {
        match offered.connection.call(&tool, input, None).await {
            Ok(answer) => {
                let value: Value = answer.decode().unwrap_or_default();
                text.push_str(&serde_json::to_string_pretty(&value).unwrap_or_default());
                text.push('\n');
                is_well &= value["isError"] != true;
            }
            Err(reason) => {
                text.push_str(&format!("{tool}: {reason}\n"));
                is_well = false;
            }
        }
    }
    (text, is_well)
}

impl Reached {
    /// Ends the connection, and waits until a program and what it started have ended.
    pub(super) async fn close(&self) {
        if let Self::Connected(offered) = self {
            offered.connection.close().await;
        }
    }
}

impl Reached {
    pub(super) fn is_well(&self) -> bool {
        matches!(self, Self::Connected(_))
    }

    /// On one line.
    pub(super) fn in_short(&self) -> String {
        match self {
            Self::Connected(offered) => {
                let tools = offered.connection.tools().count();
                format!(
                    "connected, {tools} tool{}",
                    if tools == 1 { "" } else { "s" }
                )
            }
            Self::NeedsAuth(reason) => format!("needs authorization: {reason}"),
            Self::Failed(reason) => format!("failed: {reason}"),
            Self::Untrusted => {
                "not tried: this folder is not trusted; `windlass` asks whether it is".to_owned()
            }
        }
    }

    /// With everything that it offers.
    pub(super) fn in_full(&self) -> String {
        let Self::Connected(offered) = self else {
            return format!("{}\n", self.in_short());
        };
        let info = offered.connection.info();
        let info = info.map_or(String::new(), |info| {
            format!(" ({} {})", info.name, info.version)
        });
        let mut text = format!("connected{info}\n");
        let tools = offered.connection.tools().map(|(_, name)| name.to_owned());
        text.push_str(&list("tools", &Ok(tools.collect())));
        for (kind, entries) in &offered.others {
            text.push_str(&list(kind, entries));
        }
        text
    }
}

/// A line of what there is; empty if there is nothing.
fn list(kind: &str, entries: &Result<Vec<String>, String>) -> String {
    match entries {
        Ok(entries) if entries.is_empty() => String::new(),
        Ok(entries) => format!("{kind}: {}\n", entries.join(", ")),
        Err(reason) => format!("{kind}: {reason}\n"),
    }
}
