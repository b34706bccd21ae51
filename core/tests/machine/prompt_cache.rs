//! What requests would read from the provider's prompt cache.

use serde_json::json;
use windlass_core::{
    Output, Spec,
    context::{MemoryFile, MemoryScope, SystemPrompt},
    effect::{Effect, HttpRequest, Stage},
    tools::CoreTool,
};
use windlass_testkit::PromptCache;

use crate::{
    harness::{Bench, Reply, spec_with, tool, tool_use},
    subagents::{reply, task},
};

fn spec() -> Spec {
    let mut spec = spec_with(vec![tool("Look"), tool("Read"), tool("Bash")]);
    spec.prompt.system = SystemPrompt::Preset { append: None };
    spec.prompt.memory = vec![MemoryFile {
        path: "/work/CLAUDE.md".into(),
        scope: MemoryScope::Project,
        text: "Use tabs. ".repeat(200),
    }];
    spec
}

/// A prompt, so many rounds of one call, an answer.
fn exchange(bench: &mut Bench, n: usize, rounds: usize) {
    bench.prompt(&format!("question {n} {}", "x".repeat(200)));
    for round in 0..rounds {
        let id = format!("{n}_{round}");
        bench.reply(&Reply::message(&[tool_use(
            &id,
            "Look",
            json!({"n": round}),
        )]));
        bench.finish(&id, &"z".repeat(1_000));
    }
    bench.says(&"y".repeat(200));
}

fn count(cache: &mut PromptCache, requests: &[&HttpRequest]) -> Vec<u64> {
    let used = |request: &&HttpRequest| cache.request(&request.body_bytes()).unwrap().hit_percent();
    requests.iter().map(used).collect()
}

#[test]
fn loop_17_over_a_long_session_nearly_everything_is_read_from_the_cache() {
    let mut bench = Bench::new(spec());
    for n in 0..20 {
        exchange(&mut bench, n, 4);
    }
    let mut cache = PromptCache::new(256);
    let percents = count(&mut cache, &bench.requests());
    assert_eq!(percents.len(), 100);
    assert!(percents[1..].iter().all(|p| *p >= 70), "{percents:?}");
    assert!(cache.total().hit_percent() >= 96, "{:?}", cache.total());
    // Nothing is written twice: all that was ever sent, once.
    let last = cache.request(&bench.requests()[99].body_bytes()).unwrap();
    assert!(cache.total().written <= last.tokens, "{:?}", cache.total());
}

#[test]
fn loop_17_many_results_at_once_do_not_lose_the_place() {
    let mut bench = Bench::new(spec());
    bench.prompt("look around");
    for round in 0..3 {
        let ids: Vec<String> = (0..30).map(|n| format!("{round}_{n}")).collect();
        let calls: Vec<_> = ids
            .iter()
            .map(|id| tool_use(id, "Look", json!({})))
            .collect();
        bench.reply(&Reply::message(&calls));
        for id in &ids {
            bench.finish(id, "seen");
        }
    }
    let mut cache = PromptCache::new(256);
    let percents = count(&mut cache, &bench.requests());
    // More than the 20 blocks that the API looks back: the mark at the end of the request before finds it.
    assert!(percents[1..].iter().all(|p| *p > 20), "{percents:?}");
    assert!(percents[3] > percents[2], "{percents:?}");
}

#[test]
fn a_compaction_reads_the_conversation_from_the_cache_and_keeps_the_beginning_of_the_prefix() {
    let mut bench = Bench::new(spec());
    for n in 0..10 {
        exchange(&mut bench, n, 3);
    }
    bench.prompt("/compact");
    let (id, _) = bench.of(Stage::Summary);
    for answer in Reply::text("All was looked at.").answers() {
        bench.answer(id, answer);
    }
    exchange(&mut bench, 11, 3);
    let mut cache = PromptCache::new(256);
    let percents = count(&mut cache, &bench.requests());
    // The 41st asks for the summary; the next is the first behind it.
    let [summary, after, then, ..] = percents[40..] else {
        panic!("{percents:?}");
    };
    assert!(summary >= 80, "{percents:?}");
    assert!(
        after >= 30,
        "tools, system prompt and standing instructions: {percents:?}"
    );
    assert!(then >= 70, "{percents:?}");
}

/// A prompt for which an agent looks around, so many rounds; its number is given.
fn delegated(bench: &mut Bench, number: u32, rounds: usize) {
    bench.prompt(&format!("question {number} {}", "x".repeat(200)));
    let call = format!("task_{number}");
    reply(
        bench,
        0,
        &Reply::message(&[task(&call, "Explore", json!({}))]),
    );
    for round in 0..rounds {
        let id = format!("agent_{number}_{round}");
        let look = tool_use(&id, "Look", json!({"n": round}));
        reply(bench, number, &Reply::message(&[look]));
        bench.finish(&id, &"z".repeat(1_000));
    }
    reply(bench, number, &Reply::text(&"r".repeat(400)));
    bench.says(&"y".repeat(200));
}

/// What each request of a session reads from one cache, in the order in which they were sent: the agent, whether it asks
/// for a summary, the percentage.
fn measured(bench: &Bench, cache: &mut PromptCache) -> Vec<(u32, bool, u64)> {
    let requests = bench.outputs.iter().filter_map(|output| match output {
        Output::Effect(id, Effect::Http(request)) => Some((id, request)),
        _ => None,
    });
    requests
        .map(|(id, request)| {
            let used = cache.request(&request.body_bytes()).unwrap();
            (id.agent, id.stage == Stage::Summary, used.hit_percent())
        })
        .collect()
}

#[test]
fn loop_17_parent_and_agents_each_keep_their_prefix_over_each_other_and_over_a_compaction() {
    let mut spec = spec();
    spec.tools.definitions[0] = tool("Look").read_only();
    spec.offer([CoreTool::Task]);
    let mut bench = Bench::new(spec);
    exchange(&mut bench, 0, 3);
    for number in 1..=3 {
        delegated(&mut bench, number, 3);
    }
    bench.prompt("/compact");
    let (id, _) = bench.of(Stage::Summary);
    for answer in Reply::text("All was looked at.").answers() {
        bench.answer(id, answer);
    }
    delegated(&mut bench, 4, 3);
    exchange(&mut bench, 5, 2);

    let mut cache = PromptCache::new(256);
    let percents = measured(&bench, &mut cache);
    let summary_at = percents
        .iter()
        .position(|(_, summary, _)| *summary)
        .unwrap();
    let of = |agent: u32| -> Vec<u64> {
        let its = percents.iter().filter(|(whose, _, _)| *whose == agent);
        its.map(|(_, _, percent)| *percent).collect()
    };
    assert_eq!(
        percents.iter().filter(|(whose, _, _)| *whose > 0).count(),
        4 * 4
    );
    for agent in 1..=4 {
        let [first, later @ ..] = &of(agent)[..] else {
            panic!("{percents:?}");
        };
        // The first of its kind writes what the others read, also those that begin when the parent has been compacted.
        assert_eq!(*first >= 85, agent > 1, "agent {agent}: {percents:?}");
        assert!(
            later.iter().all(|percent| *percent >= 60),
            "agent {agent}: {percents:?}"
        );
    }
    let (before, behind) = percents.split_at(summary_at + 1);
    let main = |requests: &[(u32, bool, u64)]| -> Vec<u64> {
        let its = requests.iter().filter(|(whose, _, _)| *whose == 0);
        its.map(|(_, _, percent)| *percent).collect()
    };
    // What an agent sends in between costs the parent nothing, and asking for the summary reads all there is.
    assert!(
        main(before)[1..].iter().all(|percent| *percent >= 75),
        "{percents:?}"
    );
    let [after, then @ ..] = &main(behind)[..] else {
        panic!("{percents:?}");
    };
    assert!(
        *after >= 60,
        "tools, system prompt and standing instructions: {percents:?}"
    );
    assert!(then.iter().all(|percent| *percent >= 70), "{percents:?}");
    let total = cache.total().hit_percent();
    println!("{total} of 100 tokens are read from the cache: {percents:?}");
    assert!(total >= 80, "{total} percent: {percents:?}");
}

#[test]
fn nothing_that_was_sent_is_encoded_again() {
    let pieces = |exchanges: usize| {
        let mut bench = Bench::new(spec());
        for n in 0..exchanges {
            exchange(&mut bench, n, 0);
        }
        let requests = bench.requests();
        let [.., before, last] = requests[..] else {
            panic!("two requests");
        };
        let shared = |piece: &&bytes::Bytes| {
            let at = piece.as_ptr() as usize..piece.as_ptr() as usize + piece.len();
            before.body.iter().any(|b| {
                let there = b.as_ptr() as usize..b.as_ptr() as usize + b.len();
                there.start < at.end && at.start < there.end
            })
        };
        let anew: usize = (last.body.iter())
            .filter(|p| !shared(p))
            .map(bytes::Bytes::len)
            .sum();
        (last.body.len(), anew)
    };
    let (few, _) = pieces(5);
    let (many, _) = pieces(200);
    // Pieces grow with the logarithm of the length, and so does the work of joining them.
    assert!(many <= few + 16, "{few} {many}");
}
