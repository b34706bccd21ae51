//! What programs ask of the core beside a running session: so that the module holds all there is.

use alloc::{
    string::{String, ToString},
    vec::Vec,
};
use core::fmt::Write as _;

use serde::Deserialize;
use windlass_core::{
    RawJson,
    permission::{
        CallFacts, CommandLine, Layer, Layered, Mode, PermissionSettings, PolicyContext, Source,
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
    let policy = PolicyContext::new(&layered.rules, mode, &environment);
    let _ = write!(told, "{}", explain(&policy, facts, None));
    Ok(told)
}
