//! What a session has beside its messages, taken along into forks and resumed transcripts.

use std::sync::Arc;

use serde_json::{Value, json};
use windlass_core::{
    Input, Session, Spec,
    effect::Entry,
    permission::Mode,
    provider::openai::ChatCompletions,
    spec::ToolSearchSetting,
    tool::ToolDefinition,
    tools::{CoreTool, skill::Skill},
    transcript::Transcript,
    uuid_v4,
};

use crate::{
    core_tools::last_result,
    harness::{Bench, Reply, raw, session_id, spec_with, tool},
};

const FORK: [u8; 16] = [5; 16];

fn spec() -> Spec {
    let schema = raw(&json!({"type": "object"}));
    let find = ToolDefinition::new("mcp__files__find", "Finds files.", schema);
    let mut spec = spec_with(vec![tool("Note"), find]);
    spec.policy.persist = true;
    spec.tools.search = ToolSearchSetting::On;
    spec.tools.skills = vec![Skill::new("notes", "Writes notes.", "Write well.")];
    spec.offer([
        CoreTool::TodoWrite,
        CoreTool::ToolSearch,
        CoreTool::Skill,
        CoreTool::ExitPlanMode,
    ]);
    spec
}

/// A session in which every write is acknowledged at once, and what was written.
struct Written {
    bench: Bench,
    entries: Vec<Entry>,
}

impl Written {
    fn new(spec: Spec) -> Self {
        Self::of(Bench::new(spec))
    }

    fn of(bench: Bench) -> Self {
        Self {
            bench,
            entries: Vec::new(),
        }
    }

    /// The same around another session.
    fn with(session: Session) -> Self {
        let mut bench = Bench::new(spec());
        bench.session = session;
        Self::of(bench)
    }

    fn save(&mut self) {
        while self.bench.pending_stages().iter().any(|stage| {
            use windlass_core::effect::Stage::{
                SavePrompt, SaveResponse, SaveResults, SaveSummary,
            };
            matches!(stage, SavePrompt | SaveResponse | SaveResults | SaveSummary)
        }) {
            self.entries.extend(self.bench.saved_all());
        }
    }

    fn prompt(&mut self, text: &str) {
        self.bench.prompt(text);
        self.save();
    }

    fn reply(&mut self, reply: &Reply) {
        self.bench.reply(reply);
        self.save();
    }

    /// A prompt that is answered with a call and then with words.
    fn calls(&mut self, id: &str, name: &str, input: Value) {
        self.prompt(&format!("prompt of {id}"));
        self.reply(&Reply::call(id, name, input));
        self.reply(&Reply::text("Done."));
        assert!(self.bench.session.is_idle());
    }

    fn resumed(&self, spec: Spec) -> Session {
        let transcript = Transcript::of(&self.entries);
        Session::resume_transcript(Arc::new(spec), session_id(), [8; 32], &transcript).0
    }

    fn fork(&self, messages: Option<usize>) -> Session {
        let id = uuid_v4(FORK);
        self.bench.session.fork(id, [9; 32], messages).0
    }
}

fn todos(words: &[&str]) -> Value {
    let todo =
        |word: &&str| json!({"content": word, "status": "pending", "activeForm": "Doing it"});
    json!({"todos": words.iter().map(todo).collect::<Vec<_>>()})
}

/// What was to be done in a session, as its next TodoWrite says.
fn to_do(session: Session) -> Vec<String> {
    let mut written = Written::with(session);
    written.prompt("what was to be done?");
    written.reply(&Reply::call("last", "TodoWrite", todos(&[])));
    let lines = written.bench.lines_of("user");
    let old = lines.last().unwrap()["tool_use_result"]["oldTodos"].clone();
    let contents = old.as_array().unwrap().iter();
    contents
        .map(|todo| todo["content"].as_str().unwrap().to_owned())
        .collect()
}

#[test]
fn sess_1_what_is_to_be_done_survives_resuming_and_forking() {
    let mut written = Written::new(spec());
    written.calls("a", "TodoWrite", todos(&["look", "write"]));
    written.calls("b", "TodoWrite", todos(&["write"]));
    // A list that was refused changes nothing.
    written.calls("c", "TodoWrite", json!({"todos": "all"}));
    assert_eq!(to_do(written.resumed(spec())), ["write"]);
    assert_eq!(to_do(written.fork(None)), ["write"]);
    // A fork at a message knows what was known there: before, with the call, with its result.
    for (messages, expected) in [
        (0, &[][..]),
        (1, &[]),
        (2, &[]),
        (3, &["look", "write"]),
        (6, &["look", "write"]),
        (7, &["write"]),
        (99, &["write"]),
    ] {
        let found = to_do(written.fork(Some(messages)));
        assert_eq!(found, expected, "{messages} messages");
    }
}

#[test]
fn sess_1_what_is_to_be_done_survives_a_compaction_before_resuming() {
    let mut written = Written::new(spec());
    written.calls("a", "TodoWrite", todos(&["look"]));
    written.prompt("/compact");
    let (id, _) = written.bench.of(windlass_core::effect::Stage::Summary);
    for answer in Reply::text("They wanted to look.").answers() {
        written.bench.answer(id, answer);
    }
    written.save();
    assert!(written.bench.session.is_idle());
    let shown = written.bench.history();
    assert!(
        shown
            .iter()
            .all(|message| !message.to_string().contains("tool_use")),
        "nothing in the history tells of the list: {shown:?}"
    );
    assert_eq!(to_do(written.resumed(spec())), ["look"]);
    assert_eq!(to_do(written.fork(None)), ["look"]);
    assert_eq!(to_do(written.fork(Some(1))), ["look"]);
}

/// The notes of a session, as it puts them away.
fn notes(session: &Session) -> Value {
    let snapshot = session.snapshot().unwrap();
    let text = String::from_utf8(snapshot).unwrap();
    let state: Value = serde_json::from_str(text.lines().last().unwrap()).unwrap();
    state["main"]["notes"].clone()
}

#[test]
fn sess_1_skills_that_were_invoked_survive_resuming_and_forking() {
    let mut written = Written::new(spec());
    written.calls("a", "Skill", json!({"skill": "/notes"}));
    written.calls("b", "Skill", json!({"skill": "no-such-skill"}));
    let known = notes(&written.bench.session);
    assert_eq!(known["skills"], json!(["notes"]));
    assert_eq!(notes(&written.resumed(spec())), known);
    assert_eq!(notes(&written.fork(None)), known);
    assert_eq!(
        notes(&written.fork(Some(2))),
        Value::Null,
        "before its result"
    );
}

#[test]
fn mcp_6_what_was_found_is_still_known_after_resuming_and_forking() {
    // References, which the provider shows the definitions behind.
    let mut written = Written::new(spec());
    written.calls("a", "ToolSearch", json!({"query": "find files"}));
    let known = notes(&written.bench.session);
    assert_eq!(known["loaded"], json!(["mcp__files__find"]));
    assert_eq!(notes(&written.resumed(spec())), known);
    assert_eq!(notes(&written.fork(None)), known);
    assert_eq!(notes(&written.fork(Some(1))), Value::Null);

    // Words, where the format knows no references: then the definition stands in the next request.
    let chat = || {
        let mut spec = spec();
        spec.model.provider = Arc::new(ChatCompletions::default());
        spec.model.stream = false;
        spec
    };
    let say = |message: Value, why: &str| {
        Reply::json(&json!({"choices": [{"index": 0, "finish_reason": why, "message": message}]}))
    };
    let mut written = Written::of(Bench::new_unchecked(chat()));
    written.prompt("find files");
    written.reply(&say(
        json!({"role": "assistant", "content": null, "tool_calls": [{"id": "a", "type": "function",
            "function": {"name": "ToolSearch", "arguments": "{\"query\": \"find files\"}"}}]}),
        "tool_calls",
    ));
    written.reply(&say(
        json!({"role": "assistant", "content": "Found."}),
        "stop",
    ));
    let offers = |session: Session| {
        let mut next = Written::with(session);
        next.bench.checks_requests = false;
        next.prompt("go on");
        let body = next.bench.body();
        let mut tools = body["tools"].as_array().unwrap().iter();
        tools.any(|tool| tool["function"]["name"] == "mcp__files__find")
    };
    assert!(offers(written.resumed(chat())));
    assert!(offers(written.fork(None)));
    assert!(!offers(written.fork(Some(1))), "it had not been found yet");
}

/// Lets a session leave plan mode with the person's leave; the mode it is in then.
fn leave_plan_mode(session: Session) -> Mode {
    let mut written = Written::with(session);
    written.prompt("carry it out");
    written.reply(&Reply::call(
        "exit",
        "ExitPlanMode",
        json!({"plan": "Do it."}),
    ));
    written
        .bench
        .decide(windlass_core::effect::PermissionResponse::allow());
    written.save();
    assert!(last_result(&written.bench).0.contains("plan"));
    written.bench.session.mode()
}

fn planning_spec(mode: Mode) -> Spec {
    let mut spec = spec();
    spec.policy.permissions.mode = mode;
    spec.policy.permissions.can_ask = true;
    spec
}

#[test]
fn sess_1_a_fork_in_plan_mode_goes_back_to_the_mode_before_it() {
    let mut written = Written::new(planning_spec(Mode::AcceptEdits));
    written.prompt("think");
    written.reply(&Reply::text("Thought."));
    written.bench.input(Input::SetMode(Mode::Plan));
    assert_eq!(leave_plan_mode(written.fork(None)), Mode::AcceptEdits);
}

#[test]
fn sess_1_who_resumes_in_plan_mode_goes_back_to_the_mode_that_was_written_down() {
    let line = |uuid: u8, mode: &str| {
        let uuid = uuid_v4([uuid; 16]);
        let message = json!({"role": "user", "content": "x"});
        json!({"type": "user", "uuid": uuid, "message": message, "permissionMode": mode})
            .to_string()
    };
    for (modes, expected) in [
        (&["acceptEdits", "plan"][..], Mode::AcceptEdits),
        (&["acceptEdits", "dontAsk", "plan", "plan"], Mode::DontAsk),
        (&["plan"], Mode::Default),
        (
            &["acceptEdits", "mode-of-a-later-version", "plan"],
            Mode::AcceptEdits,
        ),
        // Whoever resumes has not been allowed that.
        (&["bypassPermissions", "plan"], Mode::Default),
    ] {
        let lines: Vec<String> = (1..).zip(modes).map(|(n, mode)| line(n, mode)).collect();
        let transcript = Transcript::read(lines.join("\n").as_bytes());
        let spec = Arc::new(planning_spec(Mode::Plan));
        let (session, _) = Session::resume_transcript(spec, session_id(), [8; 32], &transcript);
        assert_eq!(leave_plan_mode(session), expected, "{modes:?}");
    }
}
