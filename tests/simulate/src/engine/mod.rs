//! Simulated runs of the engine (`windlass_engine::machine`): an SDK and a host by the dice around it, answers in any order,
//! and promises that are checked after every step.
//!
//! - every control request has exactly one reply;
//! - every line is one line of JSON; results are numbered without a gap; questions are asked once and taken back once;
//! - a prompt that was queued is completed or cancelled once, and nothing happens to it afterwards;
//! - a transcript has one writer, whose appends do not overlap, and nothing is appended under a lease that was given back;
//! - once everybody has answered, nothing is owed: the last state is `idle`, and the engine comes to its end;
//! - after a crash the session goes on with every prompt that had a result;
//! - what every reading of the settings denies never comes to the host, whatever an agent or a changed setting says;
//! - a hook hears of the end of a session once, and of worktrees before they go;
//! - the same seed gives the same bytes.
//!
//! In one run of four a program is there in the place of the SDK: it speaks in values, reads messages and never a line, each of
//! its prompts is taken in once, and whoever is asked is asked by the host.

mod client;
mod host;
mod oracle;
mod program;
mod project;

use windlass_core::{Millis, Now, RawJson, Seeded, UnixMillis};
use windlass_engine::{
    machine::{Engine, Face, Input, Launch, Output},
    protocol::{flags::Flags, frames::StateFrames},
};

use self::{client::Client, host::Host, oracle::Oracle};

/// Steps after which a run that has not come to its end never will.
const MOST_STEPS: u32 = 20_000;

/// A promise that was broken.
#[derive(Debug)]
pub struct Broken {
    /// The seed.
    pub seed: u64,
    /// The step, from 1 on.
    pub step: u32,
    /// What is wrong.
    pub what: String,
}

impl std::fmt::Display for Broken {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(f, "seed {}, step {}: {}", self.seed, self.step, self.what)
    }
}

/// What a run came to.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct Run {
    /// Steps that were made.
    pub steps: u64,
    /// Lines that were written, and messages that were handed to programs.
    pub lines: u64,
    /// Engines that were ended in the middle, and begun again.
    pub crashes: u64,
    /// A number for everything that was written.
    pub digest: u64,
}

/// Runs a seed.
///
/// # Errors
/// [`Broken`], the first promise that does not hold.
pub fn run(seed: u64) -> Result<Run, Broken> {
    let mut world = World::new(seed);
    let ran = world.run();
    let step = world.step;
    ran.map_err(|what| Broken { seed, step, what })?;
    Ok(world.count)
}

/// Everything that a run consists of.
struct World {
    dice: Seeded,
    now: Now,
    step: u32,
    client: Client,
    host: Host,
    oracle: Oracle,
    count: Run,
}

impl World {
    fn new(seed: u64) -> Self {
        let mut bytes = [0; 32];
        bytes[..8].copy_from_slice(&seed.to_le_bytes());
        let mut dice = Seeded::new(bytes);
        Self {
            client: match seed % 4 {
                3 => Client::program(&mut dice),
                _ => Client::new(&mut dice),
            },
            host: Host::new(&mut dice),
            oracle: Oracle::default(),
            now: Now {
                mono: Millis(0),
                wall: UnixMillis(1_790_000_000_000),
            },
            step: 0,
            count: Run {
                digest: 0xcbf2_9ce4_8422_2325,
                ..Run::default()
            },
            dice,
        }
    }

    fn run(&mut self) -> Result<(), String> {
        let mut resume = None;
        loop {
            let mut engine = self.begin(resume.take())?;
            self.take(&mut engine)?;
            let has_ended = self.turn(&mut engine)?;
            if has_ended {
                return self.oracle.ended(engine.state());
            }
            // It has crashed: what the store has is all there is.
            self.count.crashes += 1;
            let session = self.host.crash();
            self.oracle.crashed(&self.host)?;
            self.client.begin_again();
            resume = session;
        }
    }

    fn begin(&mut self, resume: Option<windlass_core::SessionId>) -> Result<Engine, String> {
        let flags = Flags {
            replay_user_messages: self.dice.below(2) == 0,
            include_partial_messages: false,
            permission_prompt_tool: Some("stdio".to_owned()),
            resume: resume.map(|id| id.to_string()),
            session_mirror: self.dice.below(4) == 0,
            ..Flags::default()
        };
        self.oracle.program.repeats = flags.replay_user_messages;
        let mut launch = Launch::new(flags, "/work");
        launch.face = self.client.face();
        launch.states = StateFrames::ForCaller;
        launch.file_checkpoints = self.dice.below(3) == 0;
        launch.background_ceiling_ms = Some(1_000);
        launch.notes = true;
        let mut seed = [0; 32];
        seed[..8].copy_from_slice(&self.dice.next_u64().to_le_bytes());
        let base = self.host.configuration(&mut self.dice);
        Ok(Engine::new(launch, base, seed))
    }

    /// Turns an engine until it has ended. False when it has crashed instead.
    fn turn(&mut self, engine: &mut Engine) -> Result<bool, String> {
        loop {
            if self.oracle.has_ended() {
                return Ok(true);
            }
            self.step += 1;
            self.count.steps += 1;
            if self.step > MOST_STEPS {
                return Err(format!("it does not come to its end: {:?}", engine.state()));
            }
            if self.host.crashes_now(&mut self.dice) {
                return Ok(false);
            }
            let input = self.next_input(engine)?;
            self.now.mono = self.now.mono.after(1);
            self.now.wall.0 += 1;
            engine.handle(self.now, input);
            self.take(engine)?;
        }
    }

    /// What happens next: somebody answers, the SDK says something, or time passes.
    fn next_input(&mut self, engine: &Engine) -> Result<Input, String> {
        let (host, client) = (self.host.count(), self.client.count());
        let ways = host + client;
        if ways > 0 {
            let chosen = usize::try_from(self.dice.below(ways as u64)).unwrap_or_default();
            return Ok(match chosen < host {
                true => self.host.next(chosen, &mut self.dice),
                false => self.client.next(&mut self.dice, &mut self.oracle),
            });
        }
        // Nobody has anything to say: the engine waits for the time, or for nothing.
        if let Some(at) = engine.deadline() {
            self.now.mono = at.max(self.now.mono);
            return Ok(Input::Tick);
        }
        if let Some(input) = self.client.finish() {
            self.oracle.quiet(engine.state())?;
            return Ok(input);
        }
        Err(format!("nothing goes on: {:?}", engine.state()))
    }

    fn count(&mut self, said: &str) {
        self.count.lines += 1;
        for byte in said.bytes() {
            let digest = self.count.digest ^ u64::from(byte);
            self.count.digest = digest.wrapping_mul(0x0100_0000_01b3);
        }
    }

    /// Takes what an engine puts out.
    fn take(&mut self, engine: &mut Engine) -> Result<(), String> {
        while let Some(output) = engine.poll() {
            if self.oracle.has_ended() {
                return Err(format!("after its end it puts out {output:?}"));
            }
            match output {
                Output::Line(line) if self.client.face() == Face::Lines => {
                    self.count(&line);
                    let frame = self.oracle.line(&line)?;
                    self.client.heard(&frame);
                }
                Output::Line(line) => return Err(format!("a line for a program: {line}")),
                Output::Message(message) => {
                    let text = RawJson::encode(&message).map_err(|error| error.to_string())?;
                    self.count(text.get());
                    self.oracle.message(&message)?;
                }
                Output::Fault(fault) => return Err(format!("nothing is answered: {fault}")),
                Output::Exit(_) => self.oracle.exit()?,
                output => self.host.take(output)?,
            }
        }
        Ok(())
    }
}
