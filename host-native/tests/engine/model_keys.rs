//! Where the key for the model server comes from, and what is told of it.

use std::{fs, path::Path, sync::Arc};

use serde_json::{Value, json};

use crate::support::{Sdk, says};

/// What no text of a session may show.
const KEY: &str = "sk-canary-of-the-settings-0123456789";

/// The environment of a program that has no key.
const NO_KEY: (&str, &str) = ("ANTHROPIC_API_KEY", "");

/// A new folder, with the user's settings in it.
fn folder(user: &Value) -> Arc<tempfile::TempDir> {
    let folder = Arc::new(tempfile::tempdir().unwrap());
    write(&folder.path().join(".config/settings.json"), user);
    folder
}

fn write(file: &Path, settings: &Value) {
    fs::create_dir_all(file.parent().unwrap()).unwrap();
    fs::write(file, settings.to_string()).unwrap();
}

/// The value of a header of a request to the model.
fn header(sdk: &Sdk, request: usize, name: &str) -> Option<String> {
    let requests = sdk.model.requests();
    let headers = &requests.get(request)?.headers;
    let found = headers.iter().find(|(known, _)| known == name);
    found.map(|(_, value)| value.clone())
}

/// What is told in the reply to `initialize`, of key and token, and in `system/init`.
async fn told(sdk: &mut Sdk) -> (Value, Value, Value) {
    let reply = sdk
        .request(json!({"subtype": "initialize", "hooks": null}))
        .await;
    let account = reply["response"]["account"].clone();
    sdk.prompt("go").await;
    let init = sdk.first("system init").await;
    assert_eq!(init["subtype"], "init", "{init}");
    (
        account["apiKeySource"].clone(),
        account["tokenSource"].clone(),
        init["apiKeySource"].clone(),
    )
}

#[tokio::test]
async fn conf_8_where_the_key_came_from_is_told_and_that_key_is_sent() {
    let env = json!({"env": {"ANTHROPIC_API_KEY": KEY}});
    let helper = json!({"apiKeyHelper": format!("echo {KEY}")});
    let nothing = json!({});
    let own = ("ANTHROPIC_API_KEY", "sk-of-the-environment");
    let oauth = ("CLAUDE_CODE_OAUTH_TOKEN", "the-token-of-a-subscription");
    let token = ("ANTHROPIC_AUTH_TOKEN", "the-token-of-a-gateway");
    let flag = |settings: &Value| vec!["--settings".to_owned(), settings.to_string()];
    let org = |settings: &Value| vec!["--managed-settings".to_owned(), settings.to_string()];
    // The user's settings, flags, environment; the sources of key and token; `x-api-key` and `authorization`.
    let bearer = format!("Bearer {KEY}");
    let cases = [
        (
            &nothing,
            vec![],
            vec![own],
            "ANTHROPIC_API_KEY",
            "none",
            Some(own.1),
            None,
        ),
        (&env, vec![], vec![NO_KEY], "user", "none", Some(KEY), None),
        (&env, vec![], vec![own], "user", "none", Some(KEY), None),
        (
            &nothing,
            flag(&env),
            vec![own],
            "temporary",
            "none",
            Some(KEY),
            None,
        ),
        (
            &nothing,
            org(&env),
            vec![own],
            "org",
            "none",
            Some(KEY),
            None,
        ),
        (
            &env,
            vec![],
            vec![NO_KEY, oauth],
            "user",
            "none",
            Some(KEY),
            None,
        ),
        (
            &nothing,
            vec![],
            vec![NO_KEY, oauth],
            "oauth",
            "CLAUDE_CODE_OAUTH_TOKEN",
            None,
            Some("Bearer the-token-of-a-subscription"),
        ),
        (
            &nothing,
            vec![],
            vec![NO_KEY, token],
            "none",
            "ANTHROPIC_AUTH_TOKEN",
            None,
            Some("Bearer the-token-of-a-gateway"),
        ),
        (
            &helper,
            vec![],
            vec![NO_KEY],
            "user",
            "apiKeyHelper",
            Some(KEY),
            Some(bearer.as_str()),
        ),
        (
            &helper,
            vec![],
            vec![NO_KEY, oauth],
            "user",
            "apiKeyHelper",
            Some(KEY),
            Some(bearer.as_str()),
        ),
        (
            &helper,
            vec![],
            vec![own],
            "ANTHROPIC_API_KEY",
            "apiKeyHelper",
            Some(own.1),
            Some(bearer.as_str()),
        ),
        (
            &nothing,
            flag(&helper),
            vec![NO_KEY],
            "temporary",
            "apiKeyHelper",
            Some(KEY),
            Some(bearer.as_str()),
        ),
        (
            &nothing,
            org(&helper),
            vec![NO_KEY],
            "org",
            "apiKeyHelper",
            Some(KEY),
            Some(bearer.as_str()),
        ),
        (&nothing, vec![], vec![NO_KEY], "none", "none", None, None),
    ];
    for (user, flags, variables, key, source_of_token, sent, authorization) in cases {
        let case = format!("{user} {flags:?} {variables:?}");
        let flags: Vec<&str> = flags.iter().map(String::as_str).collect();
        let mut sdk = Sdk::start_with(&variables, folder(user), &flags, json!([says("Yes.")]));
        let (of_account, of_token, of_init) = told(&mut sdk).await;
        assert_eq!(
            (&of_account, &of_init),
            (&json!(key), &json!(key)),
            "{case}"
        );
        assert_eq!(of_token, source_of_token, "{case}");
        assert_eq!(sdk.first("result").await["result"], "Yes.", "{case}");
        assert_eq!(header(&sdk, 0, "x-api-key").as_deref(), sent, "{case}");
        assert_eq!(
            header(&sdk, 0, "authorization").as_deref(),
            authorization,
            "{case}"
        );
    }
}

#[tokio::test]
async fn conf_8_a_key_of_a_project_counts_once_it_is_trusted() {
    for settings in [
        json!({"env": {"ANTHROPIC_API_KEY": KEY}}),
        json!({"apiKeyHelper": format!("touch ran; echo {KEY}")}),
    ] {
        for is_trusted in [false, true] {
            let folder = folder(&json!({}));
            let cwd = folder.path().canonicalize().unwrap();
            write(&folder.path().join(".claude/settings.json"), &settings);
            if is_trusted {
                let trusted =
                    json!({"projects": {cwd.to_str().unwrap(): {"hasTrustDialogAccepted": true}}});
                write(&folder.path().join(".config/.claude.json"), &trusted);
            }
            let mut sdk = Sdk::start_in(Arc::clone(&folder), &[], json!([says("Yes.")]));
            let (_, _, of_init) = told(&mut sdk).await;
            sdk.first("result").await;
            let is_env = settings.get("env").is_some();
            let case = format!("{settings} {is_trusted}");
            let expected = if is_trusted && is_env {
                "project"
            } else {
                "ANTHROPIC_API_KEY"
            };
            assert_eq!(of_init, expected, "{case}");
            let ran = folder.path().join("ran").exists();
            assert_eq!(ran, is_trusted && !is_env, "{case}");
            let bearer = header(&sdk, 0, "authorization");
            assert_eq!(bearer.is_some(), is_trusted && !is_env, "{case}");
        }
    }
}

#[tokio::test]
async fn conf_8_what_is_wrong_with_the_command_for_a_key_is_told_and_the_session_goes_on() {
    for (command, why) in [
        (
            "echo sk-canary-of-the-settings-0123456789; exit 3",
            "failed with exit code 3",
        ),
        ("true", "printed nothing"),
        ("echo one two", "is no key"),
        ("printf 'one\\ntwo'", "is no key"),
        ("kill -9 $$", "was ended by signal 9"),
    ] {
        let helper =
            json!({"apiKeyHelper": format!("test -e works && echo {KEY} || {{ {command}; }}")});
        let folder = folder(&helper);
        let mut sdk = Sdk::start_with(&[NO_KEY], Arc::clone(&folder), &[], json!([says("Yes.")]));
        sdk.prompt("go").await;
        let result = sdk.first("result").await;
        let said = result.to_string();
        assert_eq!(result["is_error"], true, "{command}: {said}");
        assert!(
            said.contains("apiKeyHelper") && said.contains("user settings"),
            "{said}"
        );
        assert!(said.contains(why), "{command}: {said}");
        assert!(!said.contains(KEY), "{said}");
        assert!(sdk.bodies().is_empty(), "{command}: nothing is sent");
        fs::write(folder.path().join("works"), "").unwrap();
        sdk.prompt("again").await;
        assert_eq!(sdk.first("result").await["result"], "Yes.", "{command}");
    }
}

#[tokio::test]
async fn conf_8_a_key_of_a_command_is_used_for_its_time_and_printed_anew_when_it_is_refused() {
    // It prints another key each time.
    let helper = json!({"apiKeyHelper": format!("echo x >> runs; echo {KEY}-$(grep -c x runs)")});
    let runs = |folder: &tempfile::TempDir| {
        fs::read_to_string(folder.path().join("runs"))
            .unwrap()
            .lines()
            .count()
    };
    let refused = json!({"respond": {"error": {"type": "authentication_error", "message": format!("{KEY}-1 is not valid")}}});
    let at_once = ("CLAUDE_CODE_API_KEY_HELPER_TTL_MS", "0");

    let used = folder(&helper);
    let exchanges = json!([says("One."), says("Two.")]);
    let mut sdk = Sdk::start_with(&[NO_KEY], Arc::clone(&used), &[], exchanges.clone());
    for (prompt, request) in [("one", 0), ("two", 1)] {
        sdk.prompt(prompt).await;
        assert_eq!(sdk.first("result").await["is_error"], false);
        assert_eq!(header(&sdk, request, "x-api-key"), Some(format!("{KEY}-1")));
    }
    assert_eq!(runs(&used), 1);

    let anew = folder(&helper);
    let mut sdk = Sdk::start_with(&[NO_KEY, at_once], Arc::clone(&anew), &[], exchanges);
    for (prompt, key) in [("one", 1), ("two", 2)] {
        sdk.prompt(prompt).await;
        assert_eq!(sdk.first("result").await["is_error"], false);
        assert_eq!(
            header(&sdk, key - 1, "x-api-key"),
            Some(format!("{KEY}-{key}"))
        );
    }
    assert_eq!(runs(&anew), 2);

    let once_more = folder(&helper);
    let exchanges = json!([refused, says("Yes.")]);
    let mut sdk = Sdk::start_with(&[NO_KEY], Arc::clone(&once_more), &[], exchanges);
    sdk.prompt("go").await;
    assert_eq!(sdk.first("result").await["result"], "Yes.");
    assert_eq!(header(&sdk, 0, "x-api-key"), Some(format!("{KEY}-1")));
    assert_eq!(header(&sdk, 1, "x-api-key"), Some(format!("{KEY}-2")));
    assert_eq!(runs(&once_more), 2);
}
