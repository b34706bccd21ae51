//! JavaScript.

use std::path::Path;

use serde_json::json;
use windlass::{
    AgentBuilder,
    core::tool::{Access, PluginGrant},
};

use crate::support::{Ground, logged, plugin};

const WORDS: (&str, &str) = ("words-js", "CountWords");
const MISBEHAVES: (&str, &str) = ("misbehaves-js", "Misbehave");

#[tokio::test]
async fn card_5_a_plugin_in_javascript_answers_with_what_it_was_granted() {
    let text = "The cat saw the dog — the dög saw nothing. 𝒳 don't";
    let ground = Ground::new(&[("text.txt", text)]);
    let absolute = ground.path("work/text.txt");
    let outside = ground.path("outside/secret.txt");
    let calls = vec![
        (
            json!({"file_path": "text.txt", "top": 2}),
            ("11 words, 8 different\n3 the\n2 saw", false),
        ),
        (json!({ "file_path": absolute }), ("1 dög", false)),
        (json!({"file_path": "none.txt"}), ("does not exist", true)),
        (json!({"file_path": "text.txt", "top": 0}), ("top", true)),
        (json!({ "file_path": outside }), ("was granted", true)),
    ];
    let with = |agent: AgentBuilder| agent.plugin(plugin(WORDS.0));
    ground.calls(WORDS.1, calls, with).await;
}

/// It declares that it keeps its instance.
#[tokio::test]
async fn card_5_variables_in_javascript_last_for_a_session_and_no_longer() {
    let ground = Ground::new(&[]);
    for _ in 0..2 {
        let calls = vec![
            (json!({}), ("call 1", false)),
            (json!({}), ("call 2", false)),
        ];
        let with = |agent: AgentBuilder| agent.plugin(plugin("kept-js"));
        ground.calls("Count", calls, with).await;
    }
}

#[tokio::test]
async fn card_5_a_plugin_in_javascript_that_does_not_behave_is_ended() {
    let ground = Ground::new(&[("note.txt", "a note")]);
    let (note, new) = (ground.path("work/note.txt"), ground.path("work/new.txt"));
    let outside = ground.path("outside/secret.txt");
    let at = |how: &str, path: &Path| json!({"how": how, "path": path, "reads": note});
    let calls = vec![
        (json!({"how": "loop"}), ("out of time", true)),
        (json!({"how": "grow"}), ("memory", true)),
        (json!({"how": "flood"}), ("the limit is 65536", true)),
        (json!({"how": "log"}), ("logged", false)),
        (json!({"how": "promise"}), ("without `async`", true)),
        (at("read", &note), ("a note", false)),
        (at("write", &note), ("may only be read", true)),
        (at("write", &new), ("may only be read", true)),
        (at("read", &outside), ("does not exist", true)),
        (at("write", &outside), ("does not exist", true)),
    ];
    let (host, log) = logged();
    let grant = PluginGrant::workspace(Access::Read);
    let with = |agent: AgentBuilder| {
        agent
            .plugin_host(host.clone())
            .plugin_granted(plugin(MISBEHAVES.0), grant)
    };
    ground.calls(MISBEHAVES.1, calls, with).await;
    assert!(!new.exists());
    let bytes = log.lock().unwrap().iter().map(String::len).sum::<usize>();
    assert!(
        (50_000..=10 * (64 << 10)).contains(&bytes),
        "{bytes} bytes of log"
    );
}
