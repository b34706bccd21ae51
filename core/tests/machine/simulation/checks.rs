//! What must hold after every step, and at the end.

use std::collections::{BTreeMap, BTreeSet, VecDeque};

use serde_json::{Value, json};
use windlass_core::{
    EffectId, Message, Output, Phase, Session, diagram,
    effect::Effect,
    id::Stage,
    message::{ResultSubtype, SystemMessage},
    money::Usd,
    provider::Usage,
    testkit::validate_request,
};

use crate::harness::MODEL;

/// What was seen of a session.
#[derive(Default)]
pub(super) struct Checks {
    inits: usize,
    results: usize,
    in_run: bool,
    /// Responses of the run, and their tokens.
    turns: u32,
    run_usage: Usage,
    session_usage: Usage,
    /// Calls of the run that have no result message yet.
    open_calls: BTreeSet<String>,
    effects: BTreeSet<EffectId>,
    /// Once put away, an effect may be issued again under its name.
    was_restored: bool,
    uuids: BTreeSet<String>,
    entries: Vec<String>,
}

impl Checks {
    pub(super) fn restored(&mut self) {
        self.was_restored = true;
    }

    pub(super) fn output(&mut self, output: &Output, running: &[EffectId], persists: bool) {
        match output {
            Output::Effect(id, effect) => {
                assert!(self.in_run, "{id} outside of a run");
                let fresh = self.effects.insert(*id);
                assert!(
                    fresh || self.was_restored,
                    "{id} names two different effects"
                );
                if let Effect::Http(_) | Effect::CallTool(_) = effect {
                    let saving = (running.iter()).find(|id| {
                        matches!(
                            id.stage,
                            Stage::SavePrompt | Stage::SaveResponse | Stage::SaveResults
                        )
                    });
                    assert_eq!(saving, None, "{id} did not wait for the transcript");
                }
                if let Effect::Persist(entries) = effect {
                    assert!(persists);
                    for entry in entries {
                        self.entries.push(entry.message.get().to_owned());
                    }
                }
            }
            Output::Message(message) => self.message(message, running),
            _ => {}
        }
    }

    fn message(&mut self, message: &Message, running: &[EffectId]) {
        let line: Value = serde_json::from_str(&message.to_line()).expect("JSON");
        let uuid = line["uuid"].as_str().expect("a uuid").to_owned();
        assert!(self.uuids.insert(uuid), "a uuid twice: {line}");
        assert!(line["session_id"].is_string());
        match message {
            Message::System(SystemMessage::Init(_)) => {
                assert!(!self.in_run, "two runs at once");
                self.in_run = true;
                self.inits += 1;
                self.turns = 0;
                self.run_usage = Usage::default();
            }
            Message::Assistant(assistant) if assistant.error.is_none() => {
                assert!(self.open_calls.is_empty(), "{:?}", self.open_calls);
                self.turns += 1;
                self.run_usage.add(&assistant.message.usage);
                self.session_usage.add(&assistant.message.usage);
                for block in line["message"]["content"].as_array().expect("blocks") {
                    if block["type"] == "tool_use" && block["id"].is_string() {
                        let id = block["id"].as_str().expect("an id").to_owned();
                        assert!(self.open_calls.insert(id), "two calls of one id: {line}");
                    }
                }
            }
            Message::User(_) => {
                let id = line["message"]["content"][0]["tool_use_id"].as_str();
                let id = id.expect("a result");
                assert!(self.open_calls.remove(id), "a result too many: {line}");
            }
            Message::Result(result) => {
                assert!(self.in_run, "a result too many");
                self.in_run = false;
                self.results += 1;
                assert!(self.open_calls.is_empty(), "{:?}", self.open_calls);
                assert_eq!(running, [], "still runs while the result is reported");
                assert_eq!(result.num_turns, self.turns);
                assert_eq!(result.usage, self.run_usage);
                let costs = result.model_usage.values().map(|usage| usage.cost_usd);
                assert_eq!(result.total_cost_usd, costs.sum::<Usd>());
                let mut sums = BTreeMap::new();
                for usage in result.model_usage.values() {
                    *sums.entry("in").or_insert(0) += usage.input_tokens;
                    *sums.entry("out").or_insert(0) += usage.output_tokens;
                }
                assert_eq!(
                    sums.get("in").copied().unwrap_or(0),
                    self.session_usage.input_tokens
                );
                assert_eq!(
                    sums.get("out").copied().unwrap_or(0),
                    self.session_usage.output_tokens
                );
                let success = result.subtype == ResultSubtype::Success;
                assert_eq!(result.is_error, !success);
                assert_eq!(result.result.is_some(), success);
                assert_eq!(result.errors.is_some(), !success);
            }
            _ => assert!(self.in_run, "outside of a run: {line}"),
        }
    }

    /// After a result: the next prompt would be accepted on top of what is there.
    pub(super) fn history(&self, session: &Session) {
        let mut messages: Vec<Value> = (session.history().lines())
            .map(|line| serde_json::from_slice(&line).expect("a message"))
            .collect();
        let next = json!({"type": "text", "text": "next"});
        match messages.last_mut() {
            Some(last) if last["role"] == "user" => {
                last["content"].as_array_mut().expect("blocks").push(next);
            }
            _ => messages.push(json!({"role": "user", "content": [next]})),
        }
        let body = json!({"model": MODEL, "max_tokens": 1, "messages": messages});
        if let Err(faults) = validate_request(body.to_string().as_bytes()) {
            panic!("{faults:#?}\n{body:#}");
        }
    }

    pub(super) fn at_the_end(&self, prompts: usize, session: &Session) {
        assert_eq!(session.phase(), Phase::Idle);
        assert_eq!(self.inits, prompts);
        assert_eq!(self.results, prompts);
        self.history(session);
    }
}

/// Which rows of the transition table were taken, told from the phases before and after an input.
#[derive(Default)]
pub(super) struct Rows {
    pub(super) taken: BTreeSet<String>,
    table: Vec<(String, String, String)>,
}

impl Rows {
    pub(super) fn note(&mut self, before: Phase, after: Phase, stops: bool) {
        if self.table.is_empty() {
            self.table = read_table();
        }
        let (before, after) = (format!("{before:?}"), format!("{after:?}"));
        if before == after {
            return;
        }
        for row in self.shortest_way(&before, &after, stops) {
            let (from, to, event) = &self.table[row];
            self.taken.insert(format!("{from} --> {to} : {event}"));
        }
    }

    /// The machine passes through phases in which there is nothing to wait for; the way it took is
    /// the shortest one that begins with an interrupt exactly if somebody interrupted.
    fn shortest_way(&self, from: &str, to: &str, stops: bool) -> Vec<usize> {
        let mut queue: VecDeque<(String, Vec<usize>)> = VecDeque::from([(from.to_owned(), vec![])]);
        while let Some((at, way)) = queue.pop_front() {
            if at == to && !way.is_empty() {
                return way;
            }
            for (row, (source, target, event)) in self.table.iter().enumerate() {
                let begins = way.is_empty();
                if *source == at && way.len() < 5 && (event == "Interrupt") == (begins && stops) {
                    let mut longer = way.clone();
                    longer.push(row);
                    queue.push_back((target.clone(), longer));
                }
            }
        }
        Vec::new()
    }
}

fn read_table() -> Vec<(String, String, String)> {
    diagram()
        .lines()
        .filter_map(|line| {
            let (ways, event) = line.trim().split_once(" : ")?;
            let (from, to) = ways.split_once(" --> ")?;
            Some((from.to_owned(), to.to_owned(), event.to_owned()))
        })
        .collect()
}
