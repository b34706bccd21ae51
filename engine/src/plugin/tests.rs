use super::*;

fn read(files: &[(&str, &str)]) -> Result<Plugin, PluginError> {
    read_as(files, false)
}

fn read_as(files: &[(&str, &str)], components_only: bool) -> Result<Plugin, PluginError> {
    let read = |path: &str| {
        let file = files.iter().find(|(name, _)| *name == path);
        Ok(file.map(|(_, text)| (*text).to_owned()))
    };
    Plugin::read(
        TextPath::from("/plugins/my plugin\"s/lint"),
        components_only,
        &read,
    )
}

const HOOKS: &str = r#"{"description": "d", "hooks": {"PreToolUse": [
    {"matcher": "Bash", "hooks": [{"type": "command", "command": "\"${CLAUDE_PLUGIN_ROOT}\"/check"}]}]}}"#;

#[test]
fn a_folder_without_a_manifest_is_called_like_the_folder() {
    assert_eq!(read(&[]).unwrap().name, "lint");
    let named = read(&[(MANIFEST, r#"{"name": "lint-rust", "version": "1.0"}"#)]);
    assert_eq!(named.unwrap().name, "lint-rust");
}

#[test]
fn conf_3_hooks_and_servers_know_their_folder() {
    let servers = r#"{"mcpServers": {"db": {"command": "${CLAUDE_PLUGIN_ROOT}/serve"}}}"#;
    let plugin = read(&[("hooks/hooks.json", HOOKS), (".mcp.json", servers)]).unwrap();
    let (_, hooks) = &plugin.hooks.commands[0];
    assert_eq!(hooks[0].command, "\"/plugins/my plugin\"s/lint\"/check");
    let root = hooks[0].plugin_root.as_ref().map(TextPath::as_str);
    assert_eq!(root, Some(plugin.folder.as_str()));
    let config = plugin.servers["plugin:lint:db"].get();
    assert!(
        config.contains(r#"/plugins/my plugin\"s/lint/serve"#),
        "{config}"
    );
    assert!(
        config.contains(r#""CLAUDE_PLUGIN_ROOT":"/plugins/my plugin\"s/lint""#),
        "{config}"
    );
    assert_eq!(plugin.runs().as_deref(), Some("1 hook and 1 MCP server"));
    let quiet = read_as(&[("hooks/hooks.json", HOOKS), (".mcp.json", servers)], true).unwrap();
    assert_eq!(quiet.runs(), None);
}

#[test]
fn conf_3_a_manifest_gives_hooks_and_servers_itself_or_names_their_files() {
    let given = r#"{"name": "a", "hooks": {"Stop": [{"hooks": [{"type": "command", "command": "x"}]}]},
        "mcpServers": {"db": {"command": "y"}}, "lspServers": {}}"#;
    let plugin = read(&[(MANIFEST, given)]).unwrap();
    assert_eq!(plugin.hooks.commands.len(), 1);
    assert!(plugin.servers.contains_key("plugin:a:db"));
    assert_eq!(plugin.ignored, ["`lspServers` of its plugin.json"]);
    let named = r#"{"name": "a", "hooks": "./h.json"}"#;
    let plugin = read(&[(MANIFEST, named), ("h.json", HOOKS)]).unwrap();
    assert_eq!(plugin.hooks.commands.len(), 1);
}

#[test]
fn conf_3_a_manifest_names_places_in_the_folder_and_no_others() {
    let given = r#"{"commands": "./more/", "agents": ["one.md", "./two//three"], "skills": []}"#;
    let plugin = read_as(&[(MANIFEST, given)], true).unwrap();
    assert_eq!(plugin.places.commands, ["more"]);
    assert_eq!(plugin.places.agents, ["one.md", "two/three"]);
    for path in [
        "/etc",
        "../other",
        "a/../../b",
        "",
        "./",
        "c:\\\\x",
        "a\\\\..\\\\b",
    ] {
        let given = format!(r#"{{"agents": "{path}"}}"#);
        let error = read(&[(MANIFEST, &given)]).unwrap_err().to_string();
        assert!(error.contains("no path in the plugin's folder"), "{error}");
    }
    let error = read(&[(MANIFEST, r#"{"skills": {"a": 1}}"#)]).unwrap_err();
    assert!(error.problem.contains("list of such paths"), "{error}");
}

#[test]
fn conf_3_what_is_wrong_with_a_plugin_is_said_with_its_file() {
    for (files, parts) in [
        (vec![(MANIFEST, "{")], [MANIFEST, "line 1"]),
        (
            vec![(MANIFEST, r#"{"name": "A b"}"#)],
            ["`A b`", "small letters"],
        ),
        (
            vec![(MANIFEST, r#"{"hooks": "gone.json"}"#)],
            ["gone.json", "does not exist"],
        ),
        (
            vec![("hooks/hooks.json", r#"{"hooks": 3}"#)],
            ["hooks/hooks.json", "list of hooks"],
        ),
        (vec![(".mcp.json", "[]")], [".mcp.json", "map"]),
    ] {
        let error = read(&files).unwrap_err().to_string();
        for part in parts {
            assert!(error.contains(part), "{error}");
        }
    }
}
