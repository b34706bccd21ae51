//! `windlass doctor`: checks whether this machine has what a run needs, and what to do otherwise.

use std::{
    env,
    time::{Duration, Instant},
};

use futures_util::StreamExt as _;
use windlass::{
    child,
    core::{
        effect::{Answer, HttpRequest},
        permission::{self, Fault},
        provider::openai::ChatCompletions,
    },
    engine::{Launch, lint_settings},
    http::{Auth, ModelEndpoint},
    plugins::{Cache, PluginHost, PluginHostConfig},
    store::NoConfigDir,
};

use windlass_engine::protocol::flags::Flags;

use super::{
    Exit,
    args::{ConnectionArgs, DoctorArgs, ProviderArg, VERSION},
    connection,
    keys::variable,
    plain::{duration, one_line},
    start_error::{StartError, key_variables},
    styles::{BAD, BOLD, DIM, GOOD, WARNING},
    terminal::Stage,
};

/// The timeout for the model server.
const PATIENCE: Duration = Duration::from_secs(15);

/// Runs all checks and prints one line for each. Fails if a run could not work.
pub(crate) async fn doctor(args: DoctorArgs) -> Result<Exit, StartError> {
    let mut stage = Stage::stdout();
    let mut fails = false;
    for area in [
        program(),
        key(&args.connection),
        proxy(),
        server(&args.connection).await,
        components(),
        cache(),
        bash(),
        rules(),
        terminal(),
    ] {
        fails |= area.verdict == Verdict::Fail;
        if stage.write(&area.text()).is_err() {
            return Ok(Exit::PipeClosed);
        }
    }
    Ok(if fails { Exit::Failed } else { Exit::Done })
}

/// The result of one check.
struct Finding {
    verdict: Verdict,
    area: &'static str,
    found: String,
    remedy: Option<String>,
}

#[derive(Clone, Copy, PartialEq, Eq)]
enum Verdict {
    Ok,
    /// A run works, but a part of it may not.
    Warn,
    /// No run works.
    Fail,
}

impl Finding {
    fn ok(area: &'static str, found: impl Into<String>) -> Self {
        Self {
            verdict: Verdict::Ok,
            area,
            found: found.into(),
            remedy: None,
        }
    }

    fn warn(area: &'static str, found: impl Into<String>, remedy: impl Into<String>) -> Self {
        Self {
            verdict: Verdict::Warn,
            area,
            found: found.into(),
            remedy: Some(remedy.into()),
        }
    }

    fn fail(area: &'static str, found: impl Into<String>, remedy: impl Into<String>) -> Self {
        Self {
            verdict: Verdict::Fail,
            ..Self::warn(area, found, remedy)
        }
    }

    fn text(&self) -> String {
        let (style, sign) = match self.verdict {
            Verdict::Ok => (GOOD, "✓"),
            Verdict::Warn => (WARNING, "!"),
            Verdict::Fail => (BAD, "✗"),
        };
        let mut text = format!(
            "{style}{sign}{style:#} {BOLD}{:<10}{BOLD:#} {}\n",
            self.area,
            one_line(&self.found)
        );
        if let Some(remedy) = &self.remedy {
            text.push_str(&format!(
                "  {DIM}{:<10}{DIM:#} → {}\n",
                "",
                one_line(remedy)
            ));
        }
        text
    }
}

/// Without a configuration directory, there is nothing to check.
fn no_config_dir(error: NoConfigDir) -> Finding {
    Finding::fail(
        "home",
        error.to_string(),
        "set HOME, or CLAUDE_CONFIG_DIR to a directory for them",
    )
}

/// Checks the permission rules that apply in this folder.
fn rules() -> Finding {
    let launch = match Launch::with_flags(Flags::default(), variable) {
        Ok(launch) => launch,
        Err(error) => return no_config_dir(error),
    };
    let findings = match lint_settings(&launch) {
        Ok(findings) => findings,
        Err(error) => {
            return Finding::fail("settings", error.to_string(), "repair the file");
        }
    };
    let is_invalid = |finding: &&permission::Finding| finding.fault == Fault::Invalid;
    match (findings.iter().find(is_invalid), findings.first()) {
        (Some(finding), _) => Finding::fail(
            "settings",
            finding.to_string(),
            "no session begins with it: repair or remove it",
        ),
        (None, Some(finding)) => Finding::warn(
            "settings",
            finding.to_string(),
            "`windlass permissions lint` lists all of them",
        ),
        (None, None) => Finding::ok("settings", "every permission rule does what it seems to"),
    }
}

fn program() -> Finding {
    Finding::ok(
        "program",
        format!("{VERSION}, {} {}", env::consts::OS, env::consts::ARCH),
    )
}

/// Checks whether there is a key. No part of it is ever shown.
fn key(args: &ConnectionArgs) -> Finding {
    let auth = match connection::auth_from_environment(args) {
        Ok(auth) => auth,
        Err(error) => return no_config_dir(error),
    };
    match (args.provider, auth, connection::endpoint(args)) {
        (ProviderArg::Anthropic, Auth::ApiKey(_), _) => {
            Finding::ok("key", "ANTHROPIC_API_KEY is set")
        }
        (ProviderArg::Anthropic, Auth::Bearer(_), _) => {
            Finding::ok("key", "ANTHROPIC_AUTH_TOKEN is set")
        }
        (ProviderArg::Openai, Auth::ApiKey(_) | Auth::Bearer(_), _) => {
            Finding::ok("key", "OPENAI_API_KEY is set")
        }
        (ProviderArg::Anthropic, Auth::None, Ok(_)) => {
            Finding::ok("key", "none, and a server on this machine needs none")
        }
        (ProviderArg::Openai, Auth::None, Ok(_)) => {
            Finding::ok("key", "none, and a server of one's own may need none")
        }
        (provider, Auth::None, Err(StartError::MissingKey(_))) => {
            match connection::key_of_settings(args) {
                Some(source) => Finding::ok("key", format!("from {source}")),
                None => Finding::fail("key", "none", format!("set {}", key_variables(provider))),
            }
        }
        // It is unknown which server it is for.
        (_, Auth::None, Err(_)) => Finding::ok("key", "none; the server decides, see below"),
    }
}

fn proxy() -> Finding {
    let names = [
        "HTTPS_PROXY",
        "https_proxy",
        "HTTP_PROXY",
        "http_proxy",
        "ALL_PROXY",
        "all_proxy",
        "NO_PROXY",
        "no_proxy",
    ];
    // Only the names, since a proxy's address may contain a password.
    let set: Vec<&str> = names
        .into_iter()
        .filter(|name| env::var_os(name).is_some_and(|v| !v.is_empty()))
        .collect();
    match set.as_slice() {
        [] => Finding::ok("proxy", "none"),
        set => Finding::ok(
            "proxy",
            format!("{}; not used for servers on this machine", set.join(", ")),
        ),
    }
}

/// Checks whether the model server answers and accepts the key. Costs nothing: it lists the models.
async fn server(args: &ConnectionArgs) -> Finding {
    const AREA: &str = "server";
    let config = match connection::endpoint(args) {
        Ok(config) => config,
        Err(StartError::MissingKey(_)) => {
            return Finding::warn(AREA, "not asked, for want of a key", "see above");
        }
        Err(error) => return Finding::fail(AREA, "cannot be asked", error.to_string()),
    };
    let trusted = match config.extra_ca.as_slice() {
        [] => String::new(),
        files => {
            let files: Vec<String> = files
                .iter()
                .map(|file| file.display().to_string())
                .collect();
            format!(" (also trusted: {})", files.join(", "))
        }
    };
    let endpoint = match ModelEndpoint::new(&config) {
        Ok(endpoint) => endpoint,
        Err(error) => return Finding::fail(AREA, "cannot be asked", error.to_string()),
    };
    let (path, headers) = match args.provider {
        ProviderArg::Anthropic => (
            "/v1/models?limit=1".to_owned(),
            vec![("anthropic-version".to_owned(), "2023-06-01".to_owned())],
        ),
        // Relative to the endpoint for real requests.
        ProviderArg::Openai => {
            let asked = ChatCompletions::at(&config.base_url).path;
            (asked.replace("/chat/completions", "/models"), Vec::new())
        }
    };
    let request = HttpRequest {
        method: "GET",
        path,
        headers,
        body: Vec::new(),
    };
    let started = Instant::now();
    let mut answers = std::pin::pin!(endpoint.send(request));
    let first = tokio::time::timeout(PATIENCE, answers.next()).await;
    let server = format!("{}{trusted}", endpoint.server());
    match first {
        Ok(Some(Answer::HttpHead {
            status: 401 | 403, ..
        })) => Finding::fail(
            AREA,
            format!("{server} refuses the key"),
            "check that the key is whole and still valid",
        ),
        Ok(Some(Answer::HttpHead { status, .. })) => {
            let took = u64::try_from(started.elapsed().as_millis()).unwrap_or(u64::MAX);
            let found = format!(
                "{server} answers with status {status} in {}",
                duration(took)
            );
            match status {
                // Other servers with the same API may not support listing models.
                200..=299 | 400 | 404 | 405 => Finding::ok(AREA, found),
                _ => Finding::warn(
                    AREA,
                    found,
                    "the server may be overloaded or something else than a model server",
                ),
            }
        }
        Ok(Some(Answer::HttpFailed(failure))) => {
            Finding::fail(AREA, format!("{server} cannot be reached"), failure.message)
        }
        Ok(_) => Finding::fail(
            AREA,
            format!("{server} ended the exchange without an answer"),
            "check the address",
        ),
        Err(_) => Finding::fail(
            AREA,
            format!("{server} does not answer within {} s", PATIENCE.as_secs()),
            "check the address, the network and the proxy",
        ),
    }
}

/// Checks whether the built-in tools can be loaded and compiled.
fn components() -> Finding {
    const AREA: &str = "tools";
    let host = PluginHost::new(PluginHostConfig {
        cache: Cache::of_user(),
        ..PluginHostConfig::default()
    });
    let started = Instant::now();
    let mut names = Vec::new();
    for component in windlass_builtin::COMPONENTS {
        let ready = match host.load(component.name, component.bytes) {
            Ok(plugin) => plugin.prepare().map(|()| plugin),
            Err(error) => Err(error.to_string()),
        };
        match ready {
            Ok(plugin) => names.extend(plugin.tools().iter().map(|tool| tool.name.clone())),
            Err(reason) => {
                return Finding::fail(
                    AREA,
                    format!("the component `{}` does not load", component.name),
                    reason,
                );
            }
        }
    }
    let took = u64::try_from(started.elapsed().as_millis()).unwrap_or(u64::MAX);
    Finding::ok(
        AREA,
        format!(
            "{} (components ready in {})",
            names.join(", "),
            duration(took)
        ),
    )
}

fn cache() -> Finding {
    const AREA: &str = "cache";
    let slow = "components are compiled anew in every process until it works";
    let Some(cache) = Cache::of_user() else {
        return Finding::warn(
            AREA,
            "no home directory, so no cache",
            format!("set HOME or XDG_CACHE_HOME; {slow}"),
        );
    };
    let directory = cache.directory();
    // The directory was created when the components were loaded.
    match tempfile::tempfile_in(directory) {
        Ok(_) => Finding::ok(AREA, directory.display().to_string()),
        Err(error) => {
            let found = format!("{} cannot be written: {error}", directory.display());
            Finding::warn(AREA, found, format!("make it a directory of yours; {slow}"))
        }
    }
}

fn bash() -> Finding {
    const AREA: &str = "bash";
    let remedy = "install bash; without it the Bash tool fails, the others work";
    if !cfg!(unix) {
        return Finding::warn(
            AREA,
            "there is no Bash tool on this system",
            "the other tools work",
        );
    }
    match child::command("bash").arg("--version").output() {
        Ok(output) if output.status.success() => {
            let said = String::from_utf8_lossy(&output.stdout).into_owned();
            Finding::ok(AREA, said.lines().next().unwrap_or_default())
        }
        Ok(output) => Finding::warn(AREA, format!("it ends with {}", output.status), remedy),
        Err(error) => Finding::warn(AREA, format!("it cannot be run: {error}"), remedy),
    }
}

fn terminal() -> Finding {
    let out = Stage::stdout();
    match (out.is_terminal(), out.columns()) {
        (false, _) => Finding::ok(
            "terminal",
            "none: no colours, and questions are answered with no",
        ),
        (true, Some(columns)) => Finding::ok("terminal", format!("{columns} columns")),
        (true, None) => Finding::ok("terminal", "of unknown width"),
    }
}
