//! The engine's one task: everything that happens passes through here, one thing after another.

use std::{
    collections::{BTreeSet, VecDeque},
    sync::Arc,
    time::Duration,
};

use tokio::{
    io::AsyncWrite,
    sync::{mpsc, oneshot},
    time::{Instant, sleep_until, timeout},
};
use tokio_util::sync::CancellationToken;
use windlass_core::{Input, SessionId, Uuid};
use windlass_engine::protocol::{
    frames::{FrameSettings, Frames},
    inbound::Inbound,
    initialize::Initialize,
    reply::{Reply, ReplyError},
};

use super::{
    Ending, Event,
    agent_servers::{AgentServers, OwnTools},
    build::{Blueprint, StartError, blueprint},
    channel::ControlChannel,
    checkpoints::Checkpoints,
    debug_log::{DebugLog, Topic, variant},
    keeping::{Keeper, TakenUp},
    launch::Launch,
    output::Output,
    preparing::Prepared,
    prompts::Waiting,
    servers::Servers,
    session::Live,
};
use crate::{
    agent::{fresh_uuid, random_seed},
    store::SharedStore,
    worktree::GitWorktrees,
};

/// How long a session is left alone that is about to be quiet.
const A_MOMENT: Duration = Duration::from_millis(2);

/// The engine. Its parts are spread over the files that deal with them.
pub(super) struct Engine {
    pub(super) launch: Launch,
    pub(super) output: Arc<Output>,
    pub(super) channel: ControlChannel,
    pub(super) events: mpsc::UnboundedSender<Event>,
    pub(super) session_id: SessionId,
    /// What sessions are made of, once `initialize` or a first prompt has come.
    pub(super) prepared: Option<Prepared>,
    /// What flags and files say, until `initialize` or a first prompt completes it.
    pub(super) base: Option<Blueprint>,
    /// The MCP servers of the session.
    pub(super) servers: Servers,
    /// Those that agents have for themselves.
    pub(super) agent_servers: AgentServers,
    /// Agents that start when their servers have answered, and who is told then.
    pub(super) equipping: Vec<(String, oneshot::Sender<OwnTools>)>,
    /// Those of git that were made for agents.
    pub(super) worktrees: GitWorktrees,
    /// Why no session may begin: what was brought along to judge calls cannot be used.
    pub(super) refused: Option<String>,
    pub(super) log: DebugLog,
    /// Where sessions are kept.
    pub(super) store: SharedStore,
    /// What is to go on.
    pub(super) taken_up: Option<TakenUp>,
    /// Who writes the transcript, where one is kept.
    pub(super) keeper: Option<Arc<Keeper>>,
    /// What files were before they were changed, where that is kept.
    pub(super) checkpoints: Option<Checkpoints>,
    /// The session that runs.
    pub(super) live: Option<Live>,
    /// A session has run to its end.
    pub(super) has_ended: bool,
    /// What the session is to be told when it begins.
    pub(super) before: Vec<Input>,
    /// What was sent and has not gone to the session.
    pub(super) waiting: VecDeque<Waiting>,
    /// The ids of prompts that were taken: one that comes again is passed over.
    pub(super) seen: BTreeSet<String>,
    /// The title that the SDK gave: kept with the first prompt, so that nothing is written of a session without one.
    pub(super) title: Option<String>,
    /// The model that the SDK chose while the session ran; nothing for the session's own.
    pub(super) chosen_model: Option<String>,
    /// A command is being answered by a model of its own: the other comes back behind it.
    pub(super) has_commands_model: bool,
    /// It is looked again in a moment whether the session is quiet.
    pub(super) looks_again: bool,
    /// The session is to be renewed as soon as its last words are said.
    pub(super) is_about_to_be_renewed: bool,
    /// What sessions are made of has changed while one ran.
    pub(super) is_stale: bool,
    pub(super) input_ended: bool,
    /// The session was told that no more comes.
    pub(super) is_finishing: bool,
    /// Hooks are told, or were, that the session ends.
    has_told_its_end: bool,
}

impl Engine {
    /// An engine that has heard nothing yet, and the future that writes what it says.
    pub(super) fn new<W: AsyncWrite + Unpin + Send>(
        launch: Launch,
        events: mpsc::UnboundedSender<Event>,
        stream: W,
    ) -> Result<(Self, impl Future<Output = ()> + Send), StartError> {
        let flags = &launch.flags;
        let session_id = match flags.session_id.as_deref() {
            None => fresh_uuid(),
            Some(text) => Uuid::parse(text).ok_or_else(|| StartError::Flag {
                flag: "session-id",
                reason: format!("`{text}` is no UUID"),
            })?,
        };
        let settings = FrameSettings {
            replay: flags.replay_user_messages,
            partial: flags.include_partial_messages,
            states: launch.states,
        };
        // What can be known to be wrong is found before anything is written.
        let base = blueprint(&launch, &Initialize::default())?;
        let log = DebugLog::open(&launch)?;
        log.note(Topic::Engine, || {
            let (version, pid) = (env!("CARGO_PKG_VERSION"), std::process::id());
            let (cwd, config) = (launch.directory(), launch.config.root());
            format!(
                "windlass {version}, process {pid}, works in {}, configured by {}",
                cwd.display(),
                config.display()
            )
        });
        let frames = Frames::new(session_id, settings, random_seed());
        let (output, writing) = Output::new(frames, stream, launch.longest_frame);
        let output = Arc::new(output);
        let channel = ControlChannel::new(Arc::clone(&output));
        let servers = Servers::new(channel.clone(), &launch);
        let agent_servers = AgentServers::new(Servers::new(channel.clone(), &launch));
        let engine = Self {
            store: launch.store(),
            launch,
            output,
            channel,
            events,
            session_id,
            prepared: None,
            base: Some(base),
            taken_up: None,
            keeper: None,
            checkpoints: None,
            servers,
            agent_servers,
            equipping: Vec::new(),
            worktrees: GitWorktrees::default(),
            refused: None,
            log,
            live: None,
            has_ended: false,
            before: Vec::new(),
            waiting: VecDeque::new(),
            seen: BTreeSet::new(),
            title: None,
            chosen_model: None,
            has_commands_model: false,
            looks_again: false,
            is_about_to_be_renewed: false,
            is_stale: false,
            input_ended: false,
            is_finishing: false,
            has_told_its_end: false,
        };
        Ok((engine, writing))
    }

    /// The result in the place of all answers.
    pub(super) async fn refuse(&self, problem: &str) {
        self.output.say(|frames| frames.refusal(problem)).await;
    }

    pub(super) fn channel(&self) -> ControlChannel {
        self.channel.clone()
    }

    /// Works until nothing is owed any more, or until it is told to stop: then it drops whatever it is doing, a line that
    /// nobody takes included.
    pub(super) async fn run(
        mut self,
        happening: mpsc::UnboundedReceiver<Event>,
        stop: CancellationToken,
    ) -> Ending {
        let gone = self.output.gone();
        let ended = tokio::select! {
            biased;
            () = stop.cancelled() => None,
            () = gone.cancelled() => None,
            ending = self.work(happening) => Some(ending),
        };
        let ending = match ended {
            Some(ending) => ending,
            None => self.stopped().await,
        };
        // What holds the output beyond this has nothing more to say.
        self.output.close();
        ending
    }

    async fn work(&mut self, mut happening: mpsc::UnboundedReceiver<Event>) -> Ending {
        // When background work has gone on for long enough after the input has ended.
        let mut enough: Option<Instant> = None;
        loop {
            let event = tokio::select! {
                biased;
                () = sleep_until(enough.unwrap_or_else(Instant::now)), if enough.is_some() => break,
                event = happening.recv() => event,
            };
            // The engine itself holds a sender.
            let Some(event) = event else { break };
            self.happened(event).await;
            if self.is_over().await {
                break;
            }
            let waits_for_background =
                self.is_finishing && !self.output.frames().await.is_answering();
            if waits_for_background && enough.is_none() {
                enough = self
                    .launch
                    .background_ceiling
                    .map(|limit| Instant::now() + limit);
            }
        }
        self.remove_worktrees().await;
        self.has_told_its_end = true;
        self.session_ends("other").await;
        self.close_servers().await;
        let failed = self.output.frames().await.has_failed();
        self.log
            .note(Topic::Engine, || format!("ends, failed: {failed}"));
        Ending::Done { failed }
    }

    /// The end in the middle of whatever runs: nothing of it is left behind, and hooks hear of it as of any other.
    async fn stopped(&mut self) -> Ending {
        let was_idle = self.is_session_idle();
        if let Some(live) = &mut self.live {
            live.end().await;
        }
        if let Some(keeper) = self.keeper.as_ref().filter(|_| !was_idle) {
            // What was said is written; listings also want to know where it ends. Perhaps nobody reads the mirror of it.
            let _ = timeout(super::LAST_LINES, keeper.turn_ended(None)).await;
        }
        if !std::mem::replace(&mut self.has_told_its_end, true) {
            self.session_ends("other").await;
        }
        // Servers end when their input does; those that do not are killed when this process is gone.
        let _ = timeout(super::LAST_LINES, self.close_servers()).await;
        Ending::Stopped
    }

    /// Ends every server that was started.
    async fn close_servers(&mut self) {
        futures_util::join!(self.servers.close(), self.agent_servers.close());
    }

    async fn happened(&mut self, event: Event) {
        match event {
            Event::Said(Inbound::Request { id, request }) => match request {
                Ok(request) => {
                    self.log
                        .note(Topic::Control, || format!("{} ({id})", variant(&request)));
                    self.requested(id, request).await;
                }
                Err(error) => self.reply(&id, &error.into()).await,
            },
            Event::Said(Inbound::User(frame)) => self.prompted(frame).await,
            // Answers do not come here, and what is cancelled here is answered at once.
            Event::Said(_) => {}
            Event::Unusable {
                problem,
                request_id,
            } => self.unusable(problem, request_id).await,
            Event::InputEnded => {
                self.input_ended = true;
                self.channel.close();
            }
            Event::Settled => {}
            Event::LookAgain => self.looks_again = false,
            Event::Occurred(occurrence) => {
                // Of a session that has ended meanwhile nobody is told anything.
                if let Some(live) = &self.live {
                    live.send(Input::Occurred(*occurrence));
                }
            }
            Event::Connected(connected, reply) => self.server_connected(connected, reply).await,
            Event::Relisted(relisted) => self.server_relisted(relisted),
            Event::AgentStarts(agent, reply) => self.agent_starts(agent, reply),
            Event::Ended { fault } => {
                self.live = None;
                self.has_ended = true;
                if let Some(fault) = fault {
                    let problem =
                        format!("the session has ended because of a fault of the engine: {fault}");
                    self.waiting.clear();
                    self.output.say(|frames| frames.refusal(&problem)).await;
                    self.output.say(Frames::idle).await;
                }
            }
        }
        self.go_on().await;
    }

    /// A line that was not understood: whoever sent it hears of it in the place where they wait for an answer.
    async fn unusable(&mut self, problem: String, request_id: Option<String>) {
        match request_id {
            Some(id) => self.reply(&id, &ReplyError::new(problem).into()).await,
            None => self.waiting.push_back(Waiting::Unusable(problem)),
        }
    }

    pub(super) async fn reply(&self, id: &str, reply: &Reply) {
        self.output.frame(&reply.to_frame(id)).await;
    }

    /// Something a person should know who looks for it.
    pub(super) fn warn(&self, warning: &str) {
        crate::warning::warn(&warning.to_string());
        self.log.note(Topic::Engine, || warning.to_owned());
    }

    /// What sessions are made of has changed, be it only the tools of servers: the one that runs learns of it when it is quiet.
    pub(super) fn made_of_changed(&mut self) {
        self.is_stale |= self.live.is_some();
    }

    /// Does what can be done now.
    async fn go_on(&mut self) {
        self.equip_agents();
        self.renew_if_stale().await;
        self.pump().await;
        if !self.before.is_empty() {
            // What came while servers were waited for is told once they have answered, prompt or no prompt: whoever
            // asked for another mode waits to hear of it. What holds beyond a `/clear` is told at once.
            self.session();
        }
        if self.owes_nothing().await {
            self.output.say(Frames::idle).await;
        }
        if self.input_ended
            && self.waiting.is_empty()
            && let Some(live) = &mut self.live
        {
            live.finish();
            self.is_finishing = true;
        }
    }

    /// Looks again in a moment: the session ends what it is at without a word that would come here.
    pub(super) fn look_again(&mut self) {
        if std::mem::replace(&mut self.looks_again, true) {
            return;
        }
        let events = self.events.clone();
        tokio::spawn(async move {
            tokio::time::sleep(A_MOMENT).await;
            // The engine has ended meanwhile.
            let _ = events.send(Event::LookAgain);
        });
    }

    /// Whether everything is answered that was asked, and nothing runs that will be.
    async fn owes_nothing(&self) -> bool {
        let frames = self.output.frames().await;
        self.waiting.is_empty()
            && !frames.is_answering()
            && !frames.has_task_of("local_agent")
            && self.is_session_idle()
    }

    pub(super) fn is_session_idle(&self) -> bool {
        self.live
            .as_ref()
            .is_none_or(|live| live.session.look().is_idle())
    }

    /// Whether there is nothing left to do.
    async fn is_over(&self) -> bool {
        self.input_ended && self.waiting.is_empty() && self.live.is_none()
    }
}
