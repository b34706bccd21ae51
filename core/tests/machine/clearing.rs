//! Old tool results, cleared by the core for providers that cannot do it themselves.

use serde_json::{Value, json};
use windlass_core::{
    Spec,
    context::{ClearedBy, Clearing},
};

use crate::harness::{Bench, Reply, spec_with, sse, tool, tool_use};

fn spec(tools: &[&str]) -> Spec {
    let mut spec = spec_with(tools.iter().map(|name| tool(name)).collect());
    spec.prompt.context.clearing = Some(Clearing {
        trigger_tokens: 1_000,
        warn_before: 200,
        keep: 2,
        exclude_tools: vec!["memory".into()],
        by: ClearedBy::Core,
        ..Clearing::default()
    });
    spec
}

/// A call whose response reports so many tokens of context; its result is of about 100.
fn call(bench: &mut Bench, id: &str, name: &str, tokens: u64) {
    let block = tool_use(id, name, json!({}));
    let usage = json!({"input_tokens": tokens});
    bench.reply(&Reply::stream(sse(
        &[block],
        "tool_use",
        &usage,
        &json!({"output_tokens": 1}),
    )));
    bench.finish(id, &format!("result {id} {}", "z".repeat(400)));
}

fn cleared(body: &Value) -> Vec<String> {
    let messages = body["messages"].as_array().unwrap();
    let blocks = messages
        .iter()
        .filter_map(|m| m["content"].as_array())
        .flatten();
    blocks
        .filter(|b| {
            b["content"]
                .as_str()
                .is_some_and(|c| c.contains("was removed"))
        })
        .map(|b| b["tool_use_id"].as_str().unwrap().to_owned())
        .collect()
}

#[test]
fn ctx_2_past_the_threshold_old_results_are_cleared_but_for_the_newest_and_the_excluded() {
    let mut bench = Bench::new(spec(&["Look"]));
    bench.prompt("look around");
    for (id, tokens) in [("a", 100), ("b", 200), ("c", 300), ("d", 400)] {
        call(&mut bench, id, "Look", tokens);
        assert!(cleared(&bench.body()).is_empty());
    }
    call(&mut bench, "e", "Look", 950);
    assert_eq!(cleared(&bench.body()), ["a", "b", "c"]);
    // The history keeps everything, and what is cleared stays cleared.
    assert!(
        bench
            .history()
            .iter()
            .all(|m| !m.to_string().contains("was removed"))
    );
    call(&mut bench, "f", "Look", 700);
    assert_eq!(cleared(&bench.body()), ["a", "b", "c"]);
    // After a restore the request is the same, byte for byte.
    let before = bench.asked().1.body_bytes();
    let snapshot = bench.session.snapshot().unwrap();
    let spec = std::sync::Arc::new(spec(&["Look"]));
    bench.session = windlass_core::Session::restore(spec, &snapshot).unwrap();
    bench.pending.clear();
    bench.input(windlass_core::Input::Resumed { live: vec![] });
    assert_eq!(bench.asked().1.body_bytes(), before);
}

#[test]
fn ctx_5_the_model_is_warned_before_and_its_memory_is_spared() {
    let mut bench = Bench::new(spec(&["Look", "memory"]));
    bench.prompt("look around");
    for (id, tokens) in [("a", 100), ("b", 200)] {
        call(&mut bench, id, "Look", tokens);
    }
    call(&mut bench, "m", "memory", 300);
    call(&mut bench, "c", "Look", 400);
    assert!(!bench.body().to_string().contains("save it now"));
    // All at once past the trigger: nothing is cleared before the model was warned.
    call(&mut bench, "d", "Look", 1_500);
    assert!(
        bench
            .body()
            .to_string()
            .contains("save it now with the tool memory")
    );
    assert!(cleared(&bench.body()).is_empty());
    call(&mut bench, "n", "memory", 1_600);
    assert_eq!(cleared(&bench.body()), ["a", "b", "c"]);
    assert_eq!(bench.body().to_string().matches("save it now").count(), 1);
}
