//! The model's recorded decisions against the tools of today.
//!
//! Every input of the journal is said again in its place and at its time: prompts, interrupts, settings, what the model
//! and people answered. Only what tools gave is found out anew, when it is due, and held against what was recorded.

use std::{
    collections::{BTreeMap, BTreeSet},
    pin::pin,
    sync::Arc,
};

use futures_util::StreamExt as _;
use windlass::{
    Agent,
    core::{
        EffectId, Host as _, Input, Output, Session, Spec,
        effect::{Answer, Effect, ResolvePath, ResolvedPath, Stage},
        host::CancelSignal,
        journal::{Journal, JournalCall, JournalStep},
        tool::{ToolCall, ToolResult},
    },
    host::NativeHost,
    http::{Auth, EndpointConfig},
};

use super::{Exit, StartError, say};

/// How much of a result a report shows, in characters.
const SHOWN: usize = 200;

/// Turns the session with live tools, and reports what they answer differently.
pub(super) async fn replay(journal: Journal) -> Result<Exit, StartError> {
    let mut replay = Replay::new(&journal)?;
    let mut steps = journal.steps.iter().peekable();
    while let Some(step) = steps.next() {
        let is_last = steps.peek().is_none();
        if !replay.step(step, is_last).await {
            break;
        }
    }
    Ok(replay.found.report())
}

/// A session on its way through a journal.
struct Replay {
    session: Session,
    host: NativeHost,
    /// The tools that the host has.
    tools: BTreeSet<String>,
    /// What the session waits for.
    waits: BTreeMap<EffectId, Effect>,
    /// What it has stopped, and the journal has yet to end.
    stopped: BTreeSet<EffectId>,
    found: Found,
}

impl Replay {
    /// A host with the built-in tools, in the directory of the recording, that reaches no model.
    fn new(journal: &Journal) -> Result<Self, StartError> {
        let spec = Arc::new(journal.request.spec.clone());
        let nowhere = EndpointConfig::new("http://127.0.0.1:9", Auth::None);
        let mut builder = Agent::builder()
            .endpoint(nowhere)
            .builtin_tools()
            .cwd(&spec.environment.cwd);
        for directory in &spec.environment.additional_directories {
            builder = builder.add_dir(directory);
        }
        let agent = builder.build()?;
        let known = agent.spec();
        let tools = known.tools.definitions.iter().map(|tool| tool.name.clone());
        // Nobody reads the messages: they are not handed to this host.
        let (host, _) = agent.host();
        let session = journal.session(spec).map_err(|error| {
            StartError::Unable(format!("the journal begins with a snapshot: {error}"))
        })?;
        Ok(Self {
            session,
            host,
            tools: tools.collect(),
            waits: BTreeMap::new(),
            stopped: BTreeSet::new(),
            found: Found::default(),
        })
    }

    /// Says the input of a step; whether the run still goes the way it was recorded.
    async fn step(&mut self, step: &JournalStep, is_last: bool) -> bool {
        let refusal = match &step.call {
            JournalCall::Handle { now, input } => {
                let input = match input {
                    Input::Answer(id, answer) => Input::Answer(*id, self.answer(*id, answer).await),
                    said => said.clone(),
                };
                let handled = self.session.handle(*now, input);
                handled.err().map(|error| error.to_string())
            }
            JournalCall::Configure(spec) => {
                let configured = self.session.configure(Arc::new(Spec::clone(spec)));
                configured.err().map(|error| error.to_string())
            }
            _ => Some("this version does not know what was done".to_owned()),
        };
        let was_refused = step
            .outputs
            .iter()
            .any(|line| line.starts_with("{\"refused\":"));
        if let Some(error) = refusal
            && !was_refused
        {
            self.found.drift(format!(
                "the run goes another way at line {} of the journal: {error}",
                step.line
            ));
            return false;
        }
        let mut same_way = true;
        while let Some(output) = self.session.poll() {
            match output {
                Output::Effect(id, effect) => {
                    // The recording may have been cut behind its last input.
                    if !is_last && !is_recorded(step, id) {
                        self.found.drift(format!(
                            "the run goes another way behind line {} of the journal: nothing is recorded for {id}",
                            step.line
                        ));
                        same_way = false;
                    }
                    self.waits.insert(id, effect);
                }
                Output::Cancel(id) => drop(self.stopped.insert(id)),
                Output::Abandon(id) => drop(self.waits.remove(&id)),
                _ => {}
            }
        }
        same_way
    }

    /// The answer to an effect: of today where tools and files give it, else as it was recorded.
    async fn answer(&mut self, id: EffectId, recorded: &Answer) -> Answer {
        let was_stopped = self.stopped.contains(&id);
        let effect = match recorded.is_last() {
            true => {
                self.stopped.remove(&id);
                self.waits.remove(&id)
            }
            // What a tool said on its way has been said.
            false => None,
        };
        match (effect, recorded) {
            (Some(Effect::Resolve(paths)), Answer::Resolved(before)) if !was_stopped => {
                self.resolve(id, paths, before).await
            }
            // Asked whether another call may run, it stands for a person.
            (Some(Effect::CallTool(call)), _) if id.stage == Stage::Run => {
                if was_stopped || !matches!(recorded, Answer::Tool(_)) {
                    self.found.stopped += 1;
                    return recorded.clone();
                }
                if !self.tools.contains(&call.name) {
                    *self.found.absent.entry(call.name).or_default() += 1;
                    return recorded.clone();
                }
                self.call(id, call, recorded).await
            }
            // It was begun before the recording: nobody knows its input.
            (None, Answer::Tool(_)) if id.stage == Stage::Run => {
                self.found.stopped += 1;
                recorded.clone()
            }
            (_, Answer::Hook(_)) => {
                self.found.hooks += 1;
                recorded.clone()
            }
            _ => recorded.clone(),
        }
    }

    async fn resolve(
        &mut self,
        id: EffectId,
        paths: Vec<ResolvePath>,
        before: &[Result<ResolvedPath, String>],
    ) -> Answer {
        let asked: Vec<String> = paths.iter().map(|path| path.path.clone()).collect();
        let now = self.host.resolve(id, paths).await;
        let leads = |found: Option<&Result<ResolvedPath, String>>| match found {
            Some(Ok(found)) => found.path.clone(),
            Some(Err(reason)) => format!("nowhere ({reason})"),
            None => "nowhere".to_owned(),
        };
        for (place, path) in asked.iter().enumerate() {
            let (before, now) = (leads(before.get(place)), leads(now.get(place)));
            if before != now {
                let drift = format!("{path}: recorded as {before}, now {now}");
                self.found.drift(drift);
            }
        }
        Answer::Resolved(now)
    }

    /// Runs a call and holds its result against the recorded one.
    async fn call(&mut self, id: EffectId, call: ToolCall, recorded: &Answer) -> Answer {
        let what = format!("{} {}", call.name, call.tool_use_id);
        let mut answers = pin!(self.host.call_tool(id, call, CancelSignal::new()));
        let mut now = Answer::Cancelled;
        while let Some(answer) = answers.next().await {
            if answer.is_last() {
                now = answer;
                break;
            }
        }
        self.found.calls += 1;
        match (recorded, &now) {
            (Answer::Tool(before), Answer::Tool(now)) if said(before) == said(now) => {}
            (Answer::Tool(before), Answer::Tool(now)) => {
                let (before, now) = (said(before), said(now));
                self.found
                    .drift(format!("{what}: recorded {before}, now {now}"));
            }
            _ => self.found.drift(format!("{what}: it gives no result now")),
        }
        now
    }
}

/// Whether the journal has an effect among the outputs of a step.
fn is_recorded(step: &JournalStep, id: EffectId) -> bool {
    let id = serde_json::to_string(&id).unwrap_or_default();
    let line = format!("{{\"output\":{{\"effect\":[{id},");
    step.outputs.iter().any(|output| output.starts_with(&line))
}

/// What was found out.
#[derive(Default)]
struct Found {
    /// Calls that were run.
    calls: usize,
    drifts: Vec<String>,
    /// Calls that were not run, for the journal says how far they came and nothing else does.
    stopped: usize,
    /// Calls of tools that are not here.
    absent: BTreeMap<String, usize>,
    /// Answers of hooks that were given again.
    hooks: usize,
}

impl Found {
    fn drift(&mut self, what: String) {
        self.drifts.push(what);
    }

    fn report(self) -> Exit {
        let repeated = self.repeated();
        if self.drifts.is_empty() {
            return say(&format!("no drift: {} tool calls{repeated}", self.calls));
        }
        for drift in &self.drifts {
            if say(drift) == Exit::PipeClosed {
                return Exit::PipeClosed;
            }
        }
        if !repeated.is_empty()
            && say(&format!("{} tool calls{repeated}", self.calls)) == Exit::PipeClosed
        {
            return Exit::PipeClosed;
        }
        Exit::Failed
    }

    /// What could not be found out anew.
    fn repeated(&self) -> String {
        let mut parts = Vec::new();
        if self.stopped > 0 {
            parts.push(format!("{} calls that were stopped", self.stopped));
        }
        for (tool, calls) in &self.absent {
            parts.push(format!("{calls} calls of {tool}, which is not here"));
        }
        if self.hooks > 0 {
            parts.push(format!("{} answers of hooks", self.hooks));
        }
        match parts.is_empty() {
            true => String::new(),
            false => format!("; as recorded: {}", parts.join(", ")),
        }
    }
}

/// A result as the model reads it, in short.
fn said(result: &ToolResult) -> String {
    let mut text: String = serde_json::to_string(&result.content).unwrap_or_default();
    if let [windlass::core::tool::ResultBlock::Text { text: only }] = result.content.as_slice() {
        text = format!("{only:?}");
    }
    // Told apart by what is cut off as well.
    if text.chars().count() > SHOWN {
        let shown: String = text.chars().take(SHOWN).collect();
        text = format!("{shown}… ({} bytes, {:016x})", text.len(), digest(&text));
    }
    match result.is_error {
        true => format!("error {text}"),
        false => text,
    }
}

fn digest(text: &str) -> u64 {
    let mut digest = windlass::core::journal::Digest::default();
    digest.add(text.as_bytes());
    digest.value()
}
