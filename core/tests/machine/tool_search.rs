//! Definitions that wait until they are searched for, and skills, whose texts wait until they are invoked.

use serde_json::{Value, json};
use windlass_core::{
    Spec,
    effect::PermissionResponse,
    provider::openai::ChatCompletions,
    spec::ToolSearchSetting,
    tool::{Loading, ToolDefinition},
    tools::{CoreTool, skill::Skill},
};

use crate::{
    core_tools::{calling, last_result, offering, put_away_and_taken_up},
    harness::{Bench, Reply, raw, rules, spec_with, tool},
};

const NAMES: [&str; 4] = [
    "mcp__mail__send",
    "mcp__mail__list",
    "mcp__chat__post",
    "mcp__files__find",
];

fn remote(name: &str) -> ToolDefinition {
    let schema = json!({
        "type": "object",
        "properties": {"to": {"type": "string"}},
        "required": ["to"],
    });
    let words = name.replace("mcp__", "").replace("__", " ");
    ToolDefinition::new(name, format!("Does this: {words}."), raw(&schema))
}

fn spec(setting: ToolSearchSetting) -> Spec {
    let mut tools = vec![tool("Note")];
    tools.extend(NAMES.map(remote));
    let mut spec = spec_with(tools);
    spec.tools.search = setting;
    spec.offer([CoreTool::ToolSearch]);
    spec
}

fn names(tools: &Value) -> Vec<&str> {
    let tools = tools.as_array().expect("tools");
    let name = |tool: &'_ Value| {
        tool["name"]
            .as_str()
            .or(tool["function"]["name"].as_str())
            .is_some()
    };
    assert!(tools.iter().all(name));
    (tools.iter())
        .map(|tool| {
            tool["name"]
                .as_str()
                .or(tool["function"]["name"].as_str())
                .unwrap()
        })
        .collect()
}

#[test]
fn mcp_4_what_waits_is_sent_as_deferred_and_the_beginning_of_requests_stays_the_same() {
    let mut bench = calling(
        spec(ToolSearchSetting::On),
        "ToolSearch",
        json!({"query": "send mail"}),
    );
    let requests = bench.requests();
    let first: Value = serde_json::from_slice(&requests[0].body_bytes()).unwrap();
    let tools = first["tools"].as_array().unwrap();
    assert_eq!(names(&first["tools"])[..2], ["Note", "ToolSearch"]);
    for tool in tools {
        let name = tool["name"].as_str().unwrap();
        let waits = NAMES.contains(&name);
        assert_eq!(tool["defer_loading"] == true, waits, "{name}");
        // The API refuses a cache mark on what is deferred.
        assert_eq!(
            tool["cache_control"].is_object(),
            name == "ToolSearch",
            "{name}"
        );
    }
    let search = tools[1]["description"].as_str().unwrap();
    assert!(NAMES.iter().all(|name| search.contains(name)));
    let beta = (
        "anthropic-beta".to_owned(),
        "advanced-tool-use-2025-11-20".to_owned(),
    );
    assert!(requests[0].headers.contains(&beta));

    let line = bench.lines_of("user").pop().unwrap();
    let found = &line["message"]["content"][0]["content"];
    assert_eq!(
        found[0],
        json!({"type": "tool_reference", "tool_name": "mcp__mail__send"})
    );
    assert_eq!(line["tool_use_result"]["matches"][0], "mcp__mail__send");
    assert_eq!(line["tool_use_result"]["total_deferred_tools"], 4);
    let second = bench.body();
    assert_eq!(second["tools"], first["tools"]);

    bench.reply(&Reply::call("t2", "mcp__mail__send", json!({"to": "Ada"})));
    bench.finish("t2", "sent");
    assert_eq!(bench.body()["tools"], first["tools"]);
}

#[test]
fn mcp_6_found_tools_join_requests_at_the_end_where_the_format_knows_no_deferring() {
    let other = || {
        let mut spec = spec(ToolSearchSetting::On);
        spec.model.provider = std::sync::Arc::new(ChatCompletions::default());
        spec.model.stream = false;
        spec
    };
    let call = |id: &str, query: &str| {
        Reply::json(
            &json!({"choices": [{"index": 0, "finish_reason": "tool_calls", "message": {
            "role": "assistant", "content": null, "tool_calls": [{"id": id, "type": "function",
            "function": {"name": "ToolSearch", "arguments": json!({"query": query}).to_string()}}]}}]}),
        )
    };
    let mut bench = Bench::new_unchecked(other());
    bench.prompt("go");
    assert_eq!(names(&bench.body()["tools"]), ["Note", "ToolSearch"]);
    bench.reply(&call("a", "select:mcp__files__find"));
    assert!(last_result(&bench).0.contains("mcp__files__find"));
    assert_eq!(
        names(&bench.body()["tools"]),
        ["Note", "ToolSearch", "mcp__files__find"]
    );
    put_away_and_taken_up(&mut bench, other());
    bench.reply(&call("b", "select:mcp__mail__list, mcp__files__find"));
    assert_eq!(
        names(&bench.body()["tools"]),
        ["Note", "ToolSearch", "mcp__files__find", "mcp__mail__list"]
    );
}

#[test]
fn mcp_6_the_setting_decides_when_definitions_wait() {
    let deferred = |spec: Spec| {
        let mut bench = Bench::new(spec);
        bench.prompt("go");
        let body = bench.body();
        let waiting = (body["tools"].as_array().unwrap().iter())
            .filter(|tool| tool["defer_loading"] == true)
            .count();
        (waiting, names(&body["tools"]).contains(&"ToolSearch"))
    };
    let auto = |percent| ToolSearchSetting::Auto { percent };
    assert_eq!(deferred(spec(ToolSearchSetting::On)), (4, true));
    assert_eq!(deferred(spec(ToolSearchSetting::Off)), (0, false));
    assert_eq!(deferred(spec(auto(10))), (0, false), "too small to matter");
    assert_eq!(deferred(spec(auto(0))), (4, true));
    // 10 % of 200,000 tokens are about 80,000 bytes.
    let large = |bytes: usize| {
        let mut spec = spec(ToolSearchSetting::default());
        spec.tools.definitions[1].description = "x".repeat(bytes);
        spec
    };
    assert_eq!(deferred(large(70_000)), (0, false));
    assert_eq!(deferred(large(90_000)), (4, true));
    let mut five = large(50_000);
    five.tools.search = ToolSearchSetting::parse("auto:5%").unwrap();
    assert_eq!(deferred(five), (4, true));

    let mut without_search = large(90_000);
    without_search
        .tools
        .definitions
        .retain(|tool| tool.name != "ToolSearch");
    assert_eq!(deferred(without_search), (0, false));

    let mut chosen = spec(ToolSearchSetting::On);
    chosen.tools.definitions[0].loading = Loading::OnDemand;
    chosen.tools.definitions[1].loading = Loading::Upfront;
    assert_eq!(deferred(chosen), (4, true), "one more and one less");
}

#[test]
fn mcp_4_a_tool_that_was_not_loaded_runs_when_its_input_fits_and_says_how_to_load_it_otherwise() {
    let mut bench = calling(
        spec(ToolSearchSetting::On),
        "mcp__mail__send",
        json!({"whom": "Ada"}),
    );
    let (text, is_error, _) = last_result(&bench);
    assert!(
        is_error && text.contains("select:mcp__mail__send"),
        "{text}"
    );
    bench.reply(&Reply::call("t2", "mcp__mail__send", json!({"to": "Ada"})));
    bench.finish("t2", "sent");
    bench.reply(&Reply::call(
        "t3",
        "ToolSearch",
        json!({"query": "select:mcp__mail__send"}),
    ));
    bench.reply(&Reply::call("t4", "mcp__mail__send", json!({})));
    let (text, _, _) = last_result(&bench);
    assert!(
        !text.contains("ToolSearch"),
        "it knows the definition now: {text}"
    );
}

#[test]
fn tool_17_a_search_selects_by_name_or_ranks_by_words() {
    let search = |input: Value| {
        let bench = calling(spec(ToolSearchSetting::On), "ToolSearch", input);
        let line = bench.lines_of("user").pop().unwrap();
        let matches = line["tool_use_result"]["matches"].clone();
        let content = &line["message"]["content"][0];
        (
            matches,
            content["content"].as_str().unwrap_or("").to_owned(),
            content["is_error"] == true,
        )
    };
    let (matches, ..) = search(json!({"query": "select:MCP__CHAT__POST,mcp__mail__list"}));
    assert_eq!(matches, json!(["mcp__chat__post", "mcp__mail__list"]));
    let (matches, ..) = search(json!({"query": "mail", "max_results": 1}));
    assert_eq!(matches, json!(["mcp__mail__send"]));
    let (matches, text, is_error) = search(json!({"query": "weather"}));
    assert!(!is_error && text.contains("No tool fits"), "{text}");
    assert_eq!(matches, json!([]));
    for (query, named) in [
        ("select:mcp__mail__shout", "no tool named mcp__mail__shout"),
        ("select:Note", "can be called as it is"),
        ("select:", "Name a tool"),
    ] {
        let (_, text, is_error) = search(json!({"query": query}));
        assert!(is_error && text.contains(named), "{text}");
    }
    assert!(search(json!({"query": "x", "max_results": 0})).2);
}

fn with_skills() -> Spec {
    let mut spec = offering([CoreTool::Skill]);
    let mut review = Skill::new(
        "review",
        "Reviews a change.",
        "Read $ARGUMENTS with care. SECRET-WORD",
    )
    .in_directory("/skills/review");
    review.allowed_tools = rules(&["Bash(git diff:*)"]);
    review.argument_hint = Some("[file]".to_owned());
    let mut hidden = Skill::new("deploy", "Deploys.", "Push.");
    hidden.for_model = false;
    spec.tools.skills = vec![
        review,
        hidden,
        Skill::new("notes", "Writes notes.", "Write."),
    ];
    spec
}

#[test]
fn ctx_8_descriptions_are_there_from_the_start_and_texts_only_once_invoked() {
    let mut bench = Bench::new(with_skills());
    bench.prompt("go");
    let tools = bench.body()["tools"].clone();
    let described = tools.as_array().unwrap().last().unwrap()["description"].clone();
    let described = described.as_str().unwrap();
    assert!(
        described.contains("- review: Reviews a change. (args: [file])"),
        "{described}"
    );
    assert!(!described.contains("deploy"), "not for the model");
    assert!(!bench.body().to_string().contains("SECRET-WORD"));

    bench.reply(&Reply::call(
        "s",
        "Skill",
        json!({"skill": "review", "args": "a.rs"}),
    ));
    assert_eq!(
        bench.question().1.suggested_rule().as_deref(),
        Some("Skill(review)")
    );
    bench.decide(PermissionResponse::allow());
    let (text, is_error, output) = last_result(&bench);
    assert!(!is_error);
    assert!(
        text.contains("/skills/review") && text.contains("Read a.rs with care."),
        "{text}"
    );
    assert_eq!(
        output,
        json!({"success": true, "commandName": "review", "allowedTools": ["Bash(git diff:*)"]})
    );
    assert_eq!(
        bench.body()["tools"],
        tools,
        "the beginning of requests stays the same"
    );

    bench.reply(&Reply::call(
        "b",
        "Bash",
        json!({"command": "git diff a.rs"}),
    ));
    bench.finish("b", "+1");
}

#[test]
fn tool_17_skill_rules_name_the_skill_and_unknown_ones_are_told() {
    let invoke = |allow: &[&str], deny: &[&str], skill: &str| {
        let mut spec = with_skills();
        spec.policy.permissions.can_ask = false;
        spec.policy.permissions.rules.allow = rules(allow);
        spec.policy.permissions.rules.deny = rules(deny);
        let bench = calling(spec, "Skill", json!({"skill": skill}));
        let (text, is_error, _) = last_result(&bench);
        (text, is_error)
    };
    assert!(!invoke(&["Skill(review)"], &[], "review").1);
    assert!(!invoke(&["Skill(review)"], &[], "/review").1);
    assert!(!invoke(&["Skill"], &[], "notes").1);
    assert!(!invoke(&["Skill(re*)"], &[], "review").1);
    assert!(invoke(&["Skill(review)"], &[], "notes").1);
    assert!(invoke(&["Skill"], &["Skill(notes)"], "notes").1);
    let (text, _) = invoke(&["Skill"], &[], "reviews");
    assert!(
        text.contains("no skill named reviews") && text.contains("review, notes"),
        "{text}"
    );
    let (text, _) = invoke(&["Skill"], &[], "deploy");
    assert!(text.contains("by the person only"), "{text}");
}

#[test]
fn ctx_8_a_denied_skill_is_not_even_listed_and_without_skills_there_is_no_tool() {
    let mut spec = with_skills();
    spec.policy.permissions.rules.deny = rules(&["Skill(review)"]);
    let mut bench = Bench::new(spec);
    bench.prompt("go");
    let body = bench.body();
    let described = body["tools"][2]["description"].as_str().unwrap();
    assert!(!described.contains("review") && described.contains("notes"));

    let mut bench = Bench::new(offering([CoreTool::Skill]));
    bench.prompt("go");
    assert_eq!(names(&bench.body()["tools"]), ["Bash", "Change"]);
}
