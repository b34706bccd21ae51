//! What programs ask of the core beside a running session: so that the module holds all there is.

use alloc::{
    format,
    string::{String, ToString},
    vec::Vec,
};
use core::fmt::Write as _;

use serde::Deserialize;
use windlass_core::{
    RawJson, Spec,
    agent::{AgentSource, parse_agent_file},
    callback_loop::{CallbackLoop, LoopEvents},
    message::Message,
    permission::{
        CallFacts, CommandLine, Layer, Layered, Mode, PermissionSettings, Source, Standing,
        explain, lint,
    },
    spec::Environment,
    tool::ToolDefinition,
};

/// Layers of rules and a command line that they are asked about.
#[derive(Deserialize)]
struct Question {
    layers: Vec<(Source, PermissionSettings)>,
    command: String,
}

/// What `lint` finds in layers of rules, and what `explain` says of a command under them.
///
/// # Errors
/// What cannot be read, and every rule that cannot be used.
pub fn rules(question: &str) -> Result<String, String> {
    let question = RawJson::parse(question).and_then(|question| question.decode());
    let Question { layers, command } = question.map_err(|fault| fault.to_string())?;
    let layers: Vec<Layer> = (layers.into_iter())
        .map(|(source, settings)| Layer {
            source,
            settings,
            trusted: true,
            ..Layer::default()
        })
        .collect();
    let mut told = String::new();
    for finding in lint(&layers, &["Bash", "Read"]) {
        // Writing to a string cannot fail, here and below.
        let _ = writeln!(told, "{finding}");
    }
    let environment = Environment::default();
    let layered = Layered::of(&layers, &environment)
        .map_err(|faults| windlass_core::permission::all_faults(&faults))?;
    let bash = ToolDefinition::new("Bash", "", RawJson::empty_object());
    let line = CommandLine::read(command, &environment.cwd);
    let facts = CallFacts {
        command: Some(&line),
        ..CallFacts::of(&bash)
    };
    let mode = layered.mode.unwrap_or(Mode::Default);
    let standing = Standing::new(&layered.rules, mode, &environment);
    let _ = write!(told, "{}", explain(&standing, facts, None));
    Ok(told)
}

/// The name and prompt of an agent's file.
///
/// # Errors
/// Where the file is wrong.
pub fn agent(file: &str) -> Result<String, String> {
    let agent = parse_agent_file("agent.md", file, AgentSource::Project);
    agent
        .map(|agent| format!("{}: {}", agent.name, agent.definition.prompt))
        .map_err(|fault| fault.to_string())
}

/// The feed of the callback loop for a web page.
#[derive(Debug, Default)]
pub struct Feed(LoopEvents);

impl Feed {
    /// What a message of the session is to the page.
    pub fn take_in(&mut self, message: &Message) -> String {
        let events = self.0.take_in(message);
        events.iter().map(|event| event.to_sse("tutor")).collect()
    }
}

/// The task's spec as the callback loop has it.
pub fn callback_spec(base: &Spec) -> Spec {
    CallbackLoop::new("", "").model(&*base.model).spec(base)
}
