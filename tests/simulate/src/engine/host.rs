//! A host by the dice: a store that may fail, a model that says this and that, tools, servers; each answers when it likes.

use std::collections::{BTreeMap, BTreeSet};

use serde_json::{Value, json};
use windlass_core::{
    EffectId, RawJson, Seeded, SessionId,
    effect::{
        Answer, Effect as SessionEffect, HttpFailure, HttpFailureKind, PermissionResponse,
        ResolvedPath,
    },
    hook::HookEvent,
    tool::ToolResult,
};
use windlass_engine::{
    machine::{
        Checkpoint, Checkpointed, Configuration, Effect, Input, LoadedSession, Offer, Outcome,
        Output, Seen,
    },
    settings::SettingSources,
    store::Lease,
    transcript::{SavedSession, Which},
};

use super::project::{self, LOCKED, Project};

/// What a host has to do, and what it keeps.
#[derive(Debug)]
pub(super) struct Host {
    doing: Vec<Doing>,
    /// Lines by session.
    kept: BTreeMap<SessionId, Vec<String>>,
    /// Leases that are held.
    held: BTreeSet<(SessionId, u64)>,
    epoch: u64,
    configurations: u64,
    /// Appends that are under way, by lease.
    appending: BTreeSet<(SessionId, u64)>,
    /// The store fails now and then.
    fails: bool,
    has_failed: bool,
    /// One in so many steps is the last of its engine.
    crashes: Option<u64>,
    session: Option<SessionId>,
    responses: u64,
    project: Project,
    /// Sessions of this engine of whose end a hook has heard.
    ended: BTreeSet<String>,
    /// Worktrees that were listed to go, and those of which a hook has heard since.
    going: usize,
    told: usize,
}

#[derive(Debug)]
enum Doing {
    Engine(u64, Box<Effect>),
    /// An effect of the session; whether it was cancelled.
    Session(EffectId, Box<SessionEffect>, bool),
    /// A call of a server's tool, likewise.
    Server(EffectId, bool),
    /// The body of a response whose head was sent.
    Body(EffectId, String),
    /// The end of one.
    BodyEnd(EffectId),
}

impl Host {
    pub(super) fn new(dice: &mut Seeded) -> Self {
        Self {
            doing: Vec::new(),
            kept: BTreeMap::new(),
            held: BTreeSet::new(),
            epoch: 0,
            configurations: 0,
            appending: BTreeSet::new(),
            fails: dice.below(5) == 0,
            has_failed: false,
            crashes: (dice.below(3) == 0).then(|| 20 + dice.below(100)),
            session: None,
            responses: 0,
            project: Project::new(dice),
            ended: BTreeSet::new(),
            going: 0,
            told: 0,
        }
    }

    /// What flags and files say.
    pub(super) fn configuration(&mut self, dice: &mut Seeded) -> Configuration {
        self.configurations += 1;
        Configuration {
            sources: SettingSources::ALL,
            hooks_of_host: self.project.commands(),
            ..Configuration::new(self.configurations, self.project.spec(dice))
        }
    }

    /// Whether the engine ends here, in the middle of whatever it does.
    pub(super) fn crashes_now(&mut self, dice: &mut Seeded) -> bool {
        let crashes = self.crashes.filter(|_| self.session.is_some());
        let now = crashes.is_some_and(|once| dice.below(once) == 0);
        if now {
            self.crashes = None;
        }
        now
    }

    /// Everything that was under way is gone. The session that goes on, if anything is kept of it.
    pub(super) fn crash(&mut self) -> Option<SessionId> {
        self.doing.clear();
        self.appending.clear();
        self.held.clear();
        self.ended.clear();
        (self.going, self.told) = (0, 0);
        let session = self.session.take();
        session.filter(|session| self.kept.contains_key(session))
    }

    pub(super) fn has_failed(&self) -> bool {
        self.has_failed
    }

    /// Whether a text stands in a transcript.
    pub(super) fn has_line(&self, session: SessionId, text: &str) -> bool {
        let lines = self.kept.get(&session).into_iter().flatten();
        lines.into_iter().any(|line| line.contains(text))
    }

    /// How many things it may do next.
    pub(super) fn count(&self) -> usize {
        self.doing.len()
    }

    /// Takes what an engine asks for.
    pub(super) fn take(&mut self, output: Output) -> Result<(), String> {
        match output {
            Output::Session(_, id, effect) => {
                self.begin_effect(&effect)?;
                self.doing.push(Doing::Session(id, Box::new(effect), false));
            }
            Output::ServerTool(id, _) => self.doing.push(Doing::Server(id, false)),
            Output::Effect(number, effect) => {
                match &effect {
                    Effect::Append(lease, _) => self.begin_append(lease)?,
                    Effect::RemoveWorktrees => self.begin_removal()?,
                    _ => {}
                }
                self.doing.push(Doing::Engine(number, Box::new(effect)));
            }
            Output::Cancel(id) => self.cancel(id),
            Output::Abandon(id) => self.doing.retain(|doing| doing.id() != Some(id)),
            Output::Release(lease) => self.take_back(&lease)?,
            _ => {}
        }
        Ok(())
    }

    fn begin_effect(&mut self, effect: &SessionEffect) -> Result<(), String> {
        match effect {
            SessionEffect::CallTool(call) if call.name == LOCKED => {
                Err("a tool is called that is denied".to_owned())
            }
            SessionEffect::RunHook(call) if call.event == HookEvent::WorktreeRemove => {
                self.told += 1;
                Ok(())
            }
            SessionEffect::RunHook(call) if call.event == HookEvent::SessionEnd => {
                let input: Value = serde_json::from_str(call.input.get()).unwrap_or_default();
                let session = input["session_id"].as_str().unwrap_or_default();
                match self.ended.insert(session.to_owned()) {
                    true => Ok(()),
                    false => Err(format!("the end of {session} is told twice")),
                }
            }
            _ => Ok(()),
        }
    }

    /// Every worktree that goes was listed, and told of.
    fn begin_removal(&mut self) -> Result<(), String> {
        let hears = self.project.hears(HookEvent::WorktreeRemove);
        let (going, told) = (
            std::mem::take(&mut self.going),
            std::mem::take(&mut self.told),
        );
        match going {
            0 => Err("worktrees go of which none was listed".to_owned()),
            _ if hears && told != going => Err(format!(
                "{going} worktrees go, and hooks have heard of {told}"
            )),
            _ => Ok(()),
        }
    }

    fn take_back(&mut self, lease: &Lease) -> Result<(), String> {
        match self.held.remove(&(lease.session, lease.epoch)) {
            true => Ok(()),
            false => Err(format!("a lease of {} is given back twice", lease.session)),
        }
    }

    fn begin_append(&mut self, lease: &Lease) -> Result<(), String> {
        let lease = (lease.session, lease.epoch);
        if !self.held.contains(&lease) {
            return Err(format!("{} is written without the right to", lease.0));
        }
        match self.appending.insert(lease) {
            true => Ok(()),
            false => Err(format!("two appends to {} at once", lease.0)),
        }
    }

    fn cancel(&mut self, id: EffectId) {
        for doing in &mut self.doing {
            match doing {
                // A socket is closed at once.
                Doing::Body(known, _) | Doing::BodyEnd(known) if *known == id => {
                    *doing = Doing::Server(id, true);
                }
                Doing::Session(known, _, cancelled) | Doing::Server(known, cancelled)
                    if *known == id =>
                {
                    *cancelled = true;
                }
                _ => {}
            }
        }
    }

    /// Does one of the things that it has to do.
    pub(super) fn next(&mut self, chosen: usize, dice: &mut Seeded) -> Input {
        match self.doing.remove(chosen) {
            Doing::Engine(number, effect) => Input::Done(number, self.engine(*effect, dice)),
            Doing::Server(id, cancelled) => Input::Session(id, tool(cancelled, dice)),
            Doing::Session(id, effect, cancelled) => self.session(id, *effect, cancelled, dice),
            Doing::Body(id, body) => {
                self.doing.push(Doing::BodyEnd(id));
                Input::Session(id, Answer::HttpBody(body.into_bytes().into()))
            }
            Doing::BodyEnd(id) => Input::Session(id, Answer::HttpEnd),
        }
    }

    fn engine(&mut self, effect: Effect, dice: &mut Seeded) -> Outcome {
        match effect {
            Effect::Configure(_) => Outcome::Configured(match dice.below(12) {
                0 => Err("the settings cannot be read".to_owned()),
                _ => Ok(Box::new(self.configuration(dice))),
            }),
            Effect::Load { which, .. } => Outcome::Loaded(self.load(&which)),
            Effect::Create(session) => Outcome::Leased(Ok(self.lease(session))),
            Effect::Append(lease, groups) => {
                self.appending.remove(&(lease.session, lease.epoch));
                let fails = self.fails && dice.below(6) == 0;
                self.has_failed |= fails;
                let results = groups.iter().map(|group| {
                    if fails {
                        return Err("the disk is full".to_owned());
                    }
                    if group.agent.is_none() && !group.lines.is_empty() {
                        let kept = self.kept.entry(lease.session).or_default();
                        kept.extend(group.lines.iter().map(|line| line.get().to_owned()));
                    }
                    Ok(format!("/store/{}", lease.session))
                });
                Outcome::Appended(results.collect())
            }
            Effect::Keep { .. } => Outcome::Kept(Ok("/store/agent".to_owned())),
            Effect::Checkpoint(Checkpoint::Rewind { .. }) => {
                Outcome::Checkpointed(Ok(Checkpointed::Rewound(json!({"canRewind": true}))))
            }
            Effect::Checkpoint(_) => Outcome::Checkpointed(Ok(Checkpointed::Line(None))),
            Effect::KeepOutput(..) => Outcome::OutputFile(Err("it is kept nowhere".to_owned())),
            Effect::WritePermissions(_) | Effect::WriteSettings(..) => {
                Outcome::Written(Ok(Vec::new()))
            }
            Effect::Look(_) => Outcome::Looked(Ok(Seen::Value(json!({"contents": "seen"})))),
            Effect::Connect(_) => Outcome::Connected(match dice.below(3) {
                0 => Err("it does not start".to_owned()),
                _ => Ok(Offer::default()),
            }),
            Effect::Ask(..) => Outcome::Asked(Ok(RawJson::empty_object())),
            Effect::ListWorktrees => {
                let going = self.project.worktrees(dice);
                self.going = going.len();
                Outcome::Worktrees(going)
            }
            _ => Outcome::Finished,
        }
    }

    fn lease(&mut self, session: SessionId) -> Lease {
        self.epoch += 1;
        self.session = Some(session);
        self.held.insert((session, self.epoch));
        Lease {
            session,
            epoch: self.epoch,
        }
    }

    fn load(&mut self, which: &Which) -> Result<Option<LoadedSession>, String> {
        let Which::Session(id) = which else {
            return Ok(None);
        };
        let session = windlass_core::Uuid::try_parse(id).ok().ok_or("no id")?;
        let lines = self.kept.get(&session).ok_or("nothing is kept of it")?;
        let text = lines.join("\n") + "\n";
        Ok(Some(LoadedSession {
            saved: SavedSession::read(session, text.into_bytes()),
            lease: Some(self.lease(session)),
        }))
    }

    fn session(
        &mut self,
        id: EffectId,
        effect: SessionEffect,
        cancelled: bool,
        dice: &mut Seeded,
    ) -> Input {
        let answer = match effect {
            _ if cancelled => Answer::Cancelled,
            SessionEffect::Http(_) => return self.respond(id, dice),
            SessionEffect::Resolve(paths) => Answer::Resolved(
                (paths.into_iter())
                    .map(|path| Ok(ResolvedPath::at(path.path)))
                    .collect(),
            ),
            SessionEffect::RunHook(call) => Answer::Hook(project::answer(&call, dice)),
            SessionEffect::ProbeTool(_) => Answer::Cancelled,
            SessionEffect::AskPermission(_) => Answer::Permission(match dice.below(3) {
                0 => PermissionResponse::deny("no"),
                _ => PermissionResponse::allow(),
            }),
            _ => tool(cancelled, dice),
        };
        Input::Session(id, answer)
    }

    /// The model answers: head, body and end are three steps, in any order with what else happens.
    fn respond(&mut self, id: EffectId, dice: &mut Seeded) -> Input {
        self.responses += 1;
        let failure = HttpFailure::new(HttpFailureKind::Connect, "nobody is there");
        if dice.below(10) == 0 {
            return Input::Session(id, Answer::HttpFailed(failure));
        }
        let number = self.responses;
        let calls = match dice.below(8) {
            0 => vec![("Look", json!({}))],
            1 => vec![("Do", json!({})), ("Look", json!({}))],
            2 => vec![("mcp__notes__note", json!({}))],
            3 => self.project.calls(dice),
            _ => Vec::new(),
        };
        let call = |(part, (name, input)): (u64, (&str, Value))| json!({"type": "tool_use", "id": format!("toolu_{number}_{part}"), "name": name, "input": input});
        let (content, reason) = match calls.is_empty() {
            true => (vec![json!({"type": "text", "text": "said"})], "end_turn"),
            false => ((1..).zip(calls).map(call).collect(), "tool_use"),
        };
        let body = json!({"id": format!("msg_{number}"), "type": "message", "role": "assistant",
            "model": "claude-sonnet-4-5", "content": content, "stop_reason": reason, "stop_sequence": null,
            "usage": {"input_tokens": 3, "output_tokens": 2}});
        // In one piece: what comes in pieces is the core's to be tested with.
        self.doing.push(Doing::Body(id, body.to_string()));
        Input::Session(
            id,
            Answer::HttpHead {
                status: 200,
                headers: vec![("content-type".to_owned(), "application/json".to_owned())],
            },
        )
    }
}

impl Doing {
    /// The effect of a session that it is.
    fn id(&self) -> Option<EffectId> {
        match self {
            Self::Engine(..) => None,
            Self::Session(id, ..) | Self::Server(id, _) | Self::Body(id, _) | Self::BodyEnd(id) => {
                Some(*id)
            }
        }
    }
}

fn tool(cancelled: bool, dice: &mut Seeded) -> Answer {
    match (cancelled, dice.below(6)) {
        (true, _) => Answer::Cancelled,
        (_, 0) => Answer::Tool(ToolResult::error("it failed")),
        _ => Answer::Tool(ToolResult::text("done")),
    }
}
