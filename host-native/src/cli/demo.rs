//! `windlass demo`: the agent repairs a small project. Only the model is scripted.

mod project;

use std::{io::Stdout, path::Path};

use tokio::process::Command;
use windlass::{
    child,
    core::permission::Mode,
    engine::Launch,
    model_server::{ModelServer, Script, script::Waits},
    plugins::{Cache, PluginHost, PluginHostConfig},
};

use windlass_engine::protocol::{flags::Flags, frames::StateFrames};

use self::project::Project;
use super::{
    Exit,
    args::DemoArgs,
    keys::variable,
    plain::one_line,
    report::Reporter,
    run, signals,
    start_error::StartError,
    styles::{BAD, BOLD, DIM, GOOD},
    terminal::Stage,
};

const SCRIPT: &str = include_str!("../../demo/script.json");
const PROMPT: &str = "Fix the failing tests";
/// The test command, which is the only one that is allowed.
const TESTS: [&str; 4] = ["python3", "-m", "unittest", "-q"];
/// The file with the bug.
const FAULTY: &str = "shop/discounts.py";

/// Runs the demonstration and checks that the bug is really fixed.
pub(crate) async fn demo(args: DemoArgs) -> Result<Exit, StartError> {
    require_python().await?;
    let project = Project::copy().map_err(|error| {
        StartError::Unable(format!(
            "the project cannot be copied to a temporary folder: {error}"
        ))
    })?;
    let server = ModelServer::start(script(project.root(), args.fast)?).map_err(|error| {
        StartError::Unable(format!("the scripted model cannot be started: {error}"))
    })?;
    let stops = signals::watch().map_err(StartError::Runtime)?;

    let mut stage = Stage::stdout();
    if stage
        .write(&introduction(project.root(), &server.url()))
        .is_err()
    {
        return Ok(Exit::PipeClosed);
    }
    prepare_tools(&mut stage).await?;
    let mut reporter = Reporter::for_people();
    let exit = run::run(
        launch(project.root(), &server.url())?,
        Some(PROMPT.to_owned()),
        run::Front::default(),
        &mut reporter,
        stops,
    )
    .await?;
    if matches!(exit, Exit::Signal(_) | Exit::PipeClosed) {
        return Ok(exit);
    }

    let checks = [
        tests(project.root()).await,
        changes(&project),
        conversation(&server),
    ];
    let fixed = exit == Exit::Done && checks.iter().all(Check::is_good);
    let mut end = format!("\n{BOLD}Checked without the agent{BOLD:#}\n");
    checks.iter().for_each(|check| end.push_str(&check.line()));
    if args.keep {
        end.push_str(&format!(
            "\nThe project is in {}\n",
            project.keep().display()
        ));
    }
    if stage.write(&end).is_err() {
        return Ok(Exit::PipeClosed);
    }
    Ok(if fixed { Exit::Done } else { Exit::Failed })
}

/// Compiles the components before they are called, which takes a while the first time; otherwise the displayed
/// duration of the first call would be misleading.
async fn prepare_tools(stage: &mut Stage<Stdout>) -> Result<(), StartError> {
    let Some(cache) = Cache::of_user() else {
        return Ok(()); // nothing would be kept for the agent to find
    };
    // Not essential if it cannot be displayed.
    let _ = stage.live(Some(format!(
        "{DIM}  compiling the tools, the first time only{DIM:#}"
    )));
    let compiling = tokio::task::spawn_blocking(move || {
        let host = PluginHost::new(PluginHostConfig {
            cache: Some(cache),
            ..PluginHostConfig::default()
        });
        windlass_builtin::COMPONENTS
            .iter()
            .try_for_each(|component| {
                let plugin = host.load(component.name, component.bytes);
                plugin.map_err(|error| error.to_string())?.prepare()
            })
    });
    let compiled = compiling.await.map_err(|error| error.to_string());
    let _ = stage.live(None); // as above
    compiled
        .and_then(|compiled| compiled)
        .map_err(|reason| StartError::Unable(format!("the tools cannot be compiled: {reason}")))
}

/// The script, for a copy of the project.
fn script(root: &Path, fast: bool) -> Result<Script, StartError> {
    let Some(cwd) = root.to_str() else {
        let reason = format!(
            "the temporary folder {} has no name in UTF-8: set TMPDIR",
            root.display()
        );
        return Err(StartError::Unable(reason));
    };
    let mut script = Script::parse_with(SCRIPT, &[("cwd", cwd)]).map_err(|error| {
        StartError::Unable(format!("the demonstration's script is broken: {error}"))
    })?;
    if fast {
        for exchange in &mut script.exchanges {
            exchange.respond.waits = Waits::default();
        }
    }
    Ok(script)
}

/// The launch options: the project, the model, and no settings of this machine.
fn launch(root: &Path, model: &str) -> Result<Launch, StartError> {
    let flags = Flags {
        base_url: Some(model.to_owned()),
        include_partial_messages: true,
        permission_mode: Some(Mode::AcceptEdits),
        allowed_tools: vec![format!("Bash({})", TESTS.join(" "))],
        setting_sources: Some(Vec::new()),
        no_session_persistence: true,
        ..Flags::default()
    };
    let mut launch = Launch::with_flags(flags, |name| match name {
        "HOME" => variable(name),
        _ => None,
    })?;
    launch.cwd = Some(root.to_owned());
    launch.states = StateFrames::ForSdk;
    launch.has_person = false;
    Ok(launch)
}

fn introduction(root: &Path, model: &str) -> String {
    format!(
        "{BOLD}windlass demo{BOLD:#}: a project with failing tests, and an agent to repair it\n\
         {DIM}project  {}\n\
         model    scripted, behind {model}; requests, tools and files are real\n\
         may      read and edit in the project, run `{}`{DIM:#}\n\n\
         {BOLD}> {PROMPT}{BOLD:#}\n\n",
        one_line(&root.to_string_lossy()),
        TESTS.join(" "),
    )
}

/// A check after the run.
struct Check {
    fault: Option<String>,
    found: String,
}

impl Check {
    fn good(found: String) -> Self {
        Self { fault: None, found }
    }

    fn bad(found: String, fault: impl Into<String>) -> Self {
        Self {
            fault: Some(fault.into()),
            found,
        }
    }

    fn is_good(&self) -> bool {
        self.fault.is_none()
    }

    fn line(&self) -> String {
        match &self.fault {
            None => format!("  {GOOD}✓{GOOD:#} {}\n", self.found),
            Some(fault) => format!(
                "  {BAD}✗{BAD:#} {}\n    {}\n",
                self.found,
                fault.trim_end().replace('\n', "\n    ")
            ),
        }
    }
}

/// Runs the tests again, without the agent.
async fn tests(root: &Path) -> Check {
    let command = TESTS.join(" ");
    let output = Command::from(child::command(TESTS[0]))
        .args(&TESTS[1..])
        .current_dir(root)
        .output()
        .await;
    match output {
        Err(error) => Check::bad(command, error.to_string()),
        Ok(output) => {
            // unittest reports on standard error: a count, and the result in the last line.
            let said = String::from_utf8_lossy(&output.stderr);
            let report: Vec<&str> = said
                .lines()
                .filter(|line| line.starts_with("Ran ") || line.starts_with("OK"))
                .collect();
            match output.status.success() {
                true => Check::good(format!("{command} {DIM}·{DIM:#} {}", report.join(" · "))),
                false => Check::bad(command, said),
            }
        }
    }
}

/// Checks what has changed: changing the tests would not fix the bug.
fn changes(project: &Project) -> Check {
    match project.changed().as_slice() {
        [FAULTY] => Check::good(format!("changed: {FAULTY}, nothing else")),
        [] => Check::bad(
            "changed: nothing".to_owned(),
            format!("the bug is in {FAULTY}"),
        ),
        other => Check::bad(
            format!("changed: {}", other.join(", ")),
            format!("the bug is in {FAULTY} alone"),
        ),
    }
}

/// Checks that the scripted model got the requests that it expected.
fn conversation(server: &ModelServer) -> Check {
    match server.verify() {
        Ok(()) => Check::good("the model was asked what its script expects".to_owned()),
        Err(unmet) => Check::bad(
            "the model was not asked what its script expects".to_owned(),
            unmet.to_string(),
        ),
    }
}

async fn require_python() -> Result<(), StartError> {
    let unable = |what: String| {
        StartError::Unable(format!(
            "the demonstration tests its project with python3, but {what}. Install Python 3.7 or later."
        ))
    };
    match Command::from(child::command(TESTS[0]))
        .args(["-c", "import dataclasses, unittest"])
        .output()
        .await
    {
        Ok(output) if output.status.success() => Ok(()),
        Ok(output) => {
            let said = String::from_utf8_lossy(&output.stderr);
            Err(unable(format!(
                "it fails: {}",
                one_line(said.lines().last().unwrap_or_default())
            )))
        }
        Err(error) => Err(unable(format!("it cannot be run: {error}"))),
    }
}
