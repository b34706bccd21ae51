//! What stands before the conversation: the system prompt, standing instructions, and their cache marks.

use serde_json::{Value, json};
use windlass_core::{
    Spec,
    context::{
        ClearedBy, Clearing, ContextPolicy, MemoryFile, MemoryScope, OutputStyle, SystemPrompt,
    },
    effect::Stage,
};

use crate::harness::{Bench, Reply, spec_with, tool};

fn preset(append: Option<&str>) -> Spec {
    let mut spec = spec_with(vec![tool("Read")]);
    spec.prompt.system = SystemPrompt::Preset {
        append: append.map(Into::into),
    };
    spec
}

fn project(text: &str) -> MemoryFile {
    MemoryFile {
        path: "/work/CLAUDE.md".into(),
        scope: MemoryScope::Project,
        text: text.into(),
    }
}

fn first_body(spec: Spec) -> Value {
    let mut bench = Bench::new(spec);
    bench.prompt("go");
    bench.body()
}

fn texts(blocks: &Value) -> Vec<&str> {
    let blocks = blocks.as_array().expect("blocks");
    blocks.iter().map(|b| b["text"].as_str().unwrap()).collect()
}

#[test]
fn ctx_7_the_preset_names_tools_tone_safety_and_surroundings_and_the_addition_follows() {
    let mut spec = preset(Some("Answer in French."));
    spec.environment.platform = "linux".into();
    let body = first_body(spec);
    let blocks = texts(&body["system"]);
    assert_eq!(blocks.len(), 3);
    for heading in ["# Tools", "# Tone", "# Safety"] {
        assert!(blocks[0].contains(heading), "{heading}");
    }
    assert!(blocks[1].contains("Working directory: /work") && blocks[1].contains("linux"));
    assert_eq!(blocks[2], "Answer in French.");
    // One mark, at the end, covers tools and prompt.
    assert_eq!(body["system"][2]["cache_control"]["type"], "ephemeral");
    assert_eq!(body["system"][0].get("cache_control"), None);
}

#[test]
fn ctx_7_without_a_prompt_nothing_of_ours_is_sent() {
    assert_eq!(
        first_body(spec_with(vec![tool("Read")])).get("system"),
        None
    );
    let mut spec = spec_with(vec![]);
    spec.prompt.system = "Mine alone.".into();
    assert_eq!(texts(&first_body(spec)["system"]), ["Mine alone."]);
}

#[test]
fn ctx_3_an_output_style_changes_the_preset() {
    let mut spec = preset(None);
    spec.prompt.output_style = Some(OutputStyle {
        name: "Pirate".into(),
        description: String::new(),
        instructions: "Talk like a pirate.".into(),
        keep_coding_instructions: false,
    });
    let body = first_body(spec);
    let text = texts(&body["system"])[0];
    assert!(text.contains("Talk like a pirate.") && text.contains("# Safety"));
    assert!(!text.contains("# Tone") && !text.contains("# Working on software"));
}

#[test]
fn ctx_3_standing_instructions_are_in_every_request_and_not_in_the_history() {
    let mut spec = spec_with(vec![tool("Read")]);
    spec.policy.persist = true;
    spec.prompt.memory = vec![project("Use tabs.")];
    let mut bench = Bench::new(spec);
    for turn in 0..3 {
        bench.prompt("go");
        let entry = bench.saved();
        assert!(!entry.message.get().contains("Use tabs."));
        let body = bench.body();
        let first = &body["messages"][0]["content"];
        assert!(first[0]["text"].as_str().unwrap().contains("Use tabs."));
        assert_eq!(first[0]["cache_control"]["type"], "ephemeral");
        assert_eq!(first[1]["text"], "go");
        assert_eq!(body["messages"].as_array().unwrap().len(), 2 * turn + 1);
        bench.says("fine");
        bench.saved();
    }
    let lines: Vec<_> = bench.session.history().lines().collect();
    assert!(
        lines
            .iter()
            .all(|line| !String::from_utf8_lossy(line).contains("Use tabs."))
    );
}

#[test]
fn ctx_6_the_preset_alone_brings_no_standing_instructions() {
    let body = first_body(preset(None));
    assert_eq!(texts(&body["messages"][0]["content"]), ["go"]);
    let mut spec = preset(None);
    spec.prompt.memory = vec![project(" \n")];
    assert_eq!(texts(&first_body(spec)["messages"][0]["content"]), ["go"]);
}

#[test]
fn a_request_with_everything_has_four_cache_marks() {
    let mut spec = preset(Some("More."));
    spec.prompt.memory = vec![project("Use tabs.")];
    let mut bench = Bench::new(spec);
    bench.prompt("one");
    bench.says("fine");
    bench.prompt("two");
    let marks = bench.body().to_string().matches("cache_control").count();
    assert_eq!(marks, 4);
}

#[test]
fn ctx_2_clearing_by_the_api_is_asked_for_with_its_beta() {
    let mut spec = spec_with(vec![tool("Read")]);
    spec.model.betas = vec!["other-beta".into()];
    spec.prompt.context.clearing = Some(Clearing {
        trigger_tokens: 30_000,
        exclude_tools: vec!["memory".into()],
        ..Clearing::default()
    });
    let mut bench = Bench::new(spec.clone());
    bench.prompt("go");
    let edit = &bench.body()["context_management"]["edits"][0];
    assert_eq!(edit["type"], "clear_tool_uses_20250919");
    assert_eq!(
        edit["trigger"],
        json!({"type": "input_tokens", "value": 30_000})
    );
    assert_eq!(edit["exclude_tools"], json!(["memory"]));
    let (_, request) = bench.asked();
    let header = request.headers.iter().find(|(k, _)| k == "anthropic-beta");
    assert_eq!(
        header.unwrap().1,
        "other-beta,context-management-2025-06-27"
    );

    // A gateway that does not know the beta: the core clears, and the request says nothing of it.
    spec.prompt.context = ContextPolicy {
        clearing: Some(Clearing {
            by: ClearedBy::Core,
            ..Clearing::default()
        }),
        ..ContextPolicy::default()
    };
    let mut bench = Bench::new(spec);
    bench.prompt("go");
    assert_eq!(bench.body().get("context_management"), None);
    assert_eq!(bench.of(Stage::Model).0.attempt, 1);
    bench.reply(&Reply::text("done"));
}
