//! Files by two names: the one that a call writes, which leads through a link, and the real one.

use serde_json::json;
use windlass_core::{
    Spec,
    effect::{Answer, ResolvedPath, Stage},
    tool::{Access, Observation, ToolResult},
};

use crate::{
    core_tools::put_away_and_taken_up,
    harness::{Bench, Reply, file_tool, spec_with},
};

fn spec() -> Spec {
    let mut read = file_tool("Read", Access::Read);
    read.background_param = Some("run_in_background".into());
    spec_with(vec![read, file_tool("Edit", Access::Write)])
}

/// The workspace was entered by a link: `/work` leads to `/real`.
fn resolves(bench: &mut Bench) {
    let (id, _) = bench.of(Stage::Resolve);
    bench.answer(id, Answer::Resolved(vec![Ok(ResolvedPath::at("/real/x"))]));
}

fn seen(path: &str) -> Observation {
    Observation {
        path: path.into(),
        digest: "sha256:00".into(),
        whole: true,
    }
}

#[test]
fn what_was_seen_by_the_name_of_a_link_counts_for_the_file() {
    for (in_background, is_put_away) in [(false, false), (true, false), (true, true)] {
        let mut bench = Bench::new(spec());
        bench.prompt("go");
        let input = json!({"file_path": "/work/x", "run_in_background": in_background});
        bench.reply(&Reply::call("r", "Read", input));
        resolves(&mut bench);
        if is_put_away {
            put_away_and_taken_up(&mut bench, spec());
        }
        let (id, _) = bench.call("r");
        let result = ToolResult {
            observed: vec![seen("/work/x")],
            ..ToolResult::text("text")
        };
        bench.answer(id, Answer::Tool(result));
        bench.reply(&Reply::call("e", "Edit", json!({"file_path": "/work/x"})));
        resolves(&mut bench);
        let observed = bench.call("e").1.observed;
        let both = [seen("/work/x"), seen("/real/x")];
        assert_eq!(
            observed, both,
            "in background: {in_background}, put away: {is_put_away}"
        );
    }
}
