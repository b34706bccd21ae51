//! Replays the model's recorded decisions with the current tools.
//!
//! Every input of the journal is repeated in order and with its time: prompts, interrupts, settings, responses of the
//! model and answers of people. Only tool calls are run again, when they are due, and their results are compared with
//! the recorded ones.

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

/// The maximum length of a result in a report, in characters.
const SHOWN: usize = 200;

/// Drives the session with live tools, and reports different results.
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

/// A session being replayed.
struct Replay {
    session: Session,
    host: NativeHost,
    /// The names of the host's tools.
    tools: BTreeSet<String>,
    /// Pending effects of the session.
    waits: BTreeMap<EffectId, Effect>,
    /// Effects that it has cancelled and whose end is still to come in the journal.
    stopped: BTreeSet<EffectId>,
    found: Found,
}

impl Replay {
    /// A host with the built-in tools, in the directory of the recording, without a model.
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
        // The messages are not used: they are not passed to this host.
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

    /// Applies the input of a step. Returns whether the run still takes the recorded course.
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
                    // The recording may have been cut off after its last input.
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

    /// The answer to an effect: from the current tools and files, else the recorded one.
    async fn answer(&mut self, id: EffectId, recorded: &Answer) -> Answer {
        let was_stopped = self.stopped.contains(&id);
        let effect = match recorded.is_last() {
            true => {
                self.stopped.remove(&id);
                self.waits.remove(&id)
            }
            // A tool's recorded progress was repeated already.
            false => None,
        };
        match (effect, recorded) {
            (Some(Effect::Resolve(paths)), Answer::Resolved(before)) if !was_stopped => {
                self.resolve(id, paths, before).await
            }
            // A tool that decides about another call's permission acts for a person.
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
            // It was started before the recording, so its input is unknown.
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

    /// Runs a call and compares its result with the recorded one.
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

/// Whether the journal contains an effect in the outputs of a step.
fn is_recorded(step: &JournalStep, id: EffectId) -> bool {
    let id = serde_json::to_string(&id).unwrap_or_default();
    let line = format!("{{\"output\":{{\"effect\":[{id},");
    step.outputs.iter().any(|output| output.starts_with(&line))
}

/// The findings.
#[derive(Default)]
struct Found {
    /// The number of calls that were run.
    calls: usize,
    drifts: Vec<String>,
    /// The number of calls that were not run, because only the journal says how far they came.
    stopped: usize,
    /// Calls of tools that do not exist here.
    absent: BTreeMap<String, usize>,
    /// The number of repeated hook answers.
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

    /// What could not be run again.
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

/// A result as the model reads it, shortened.
fn said(result: &ToolResult) -> String {
    let mut text: String = serde_json::to_string(&result.content).unwrap_or_default();
    if let [windlass::core::tool::ResultBlock::Text { text: only }] = result.content.as_slice() {
        text = format!("{only:?}");
    }
    // A digest distinguishes results by their omitted part as well.
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
