//! Git worktrees for a session or a subagent, made by the installed git.
//!
//! They are created below `.claude/worktrees` of the repository, each on its own branch that starts at the current
//! commit. Worktrees of subagents are removed at the end of the session if nothing was changed in them; all others
//! stay. Worktrees created by hooks are also left to hooks: when the session ends, hooks are told of those of
//! subagents and remove them if they choose to.

use std::{
    collections::BTreeSet,
    path::{Path, PathBuf},
    process::Stdio,
    sync::{Arc, Mutex, MutexGuard, PoisonError},
    time::Duration,
};

use futures_util::stream::{self, BoxStream, StreamExt};
use tokio::{process::Command, time::timeout};
use windlass_core::{
    EffectId,
    effect::Answer,
    hook::{Occurrence, input::WorktreeRemove},
    host::CancelSignal,
    tool::{ToolCall, ToolResult},
    tools::enter_worktree::{EnterWorktreeInput, EnterWorktreeOutput, OF_AGENTS},
};

use super::RunTool;
use crate::{child, random::fresh_uuid};

/// Their folder in a repository.
const FOLDER: &str = ".claude/worktrees";

/// The time limit of a git command. Checking out a large repository can take tens of seconds.
const LIMIT: Duration = Duration::from_secs(600);

/// Variables that would make git use another repository than that of its directory.
const ELSEWHERE: [&str; 5] = [
    "GIT_DIR",
    "GIT_WORK_TREE",
    "GIT_INDEX_FILE",
    "GIT_COMMON_DIR",
    "GIT_NAMESPACE",
];

/// Creates worktrees for a session, and removes those that were not used. Cloning is cheap.
#[derive(Debug, Clone, Default)]
pub(crate) struct GitWorktrees {
    of_agents: Arc<Mutex<Vec<Made>>>,
}

/// A worktree that was made for a subagent.
#[derive(Debug)]
pub(crate) struct Made {
    path: PathBuf,
    /// The git branch; `None` if a hook made the worktree.
    git: Option<Branch>,
}

/// The branch that was made with a worktree.
#[derive(Debug)]
struct Branch {
    repository: PathBuf,
    name: String,
    /// The commit at which it started.
    begin: String,
}

/// Why there is no worktree.
#[derive(Debug, thiserror::Error)]
enum WorktreeError {
    #[error("The input of EnterWorktree is {0}.")]
    Input(String),
    #[error("A worktree needs git, which cannot be started: {0}. Is it installed?")]
    NoGit(std::io::Error),
    #[error("git was not done after {} seconds and was stopped.", LIMIT.as_secs())]
    TooLong,
    #[error("No worktree was made. git says: {0}")]
    Refused(String),
    #[error(
        "There is something at {} already that is no worktree: choose another name.", .0.display()
    )]
    Occupied(PathBuf),
    #[error("The worktree at {} cannot be worked in: {reason}.", path.display())]
    Unusable { path: PathBuf, reason: String },
}

impl RunTool for GitWorktrees {
    fn run(
        &self,
        _id: EffectId,
        call: ToolCall,
        cancel: CancelSignal,
    ) -> BoxStream<'static, Answer> {
        let worktrees = self.clone();
        stream::once(async move {
            tokio::select! {
                entered = worktrees.enter(&call) => Answer::Tool(match entered {
                    Ok(output) => output.into_result(),
                    Err(error) => ToolResult::error(error.to_string()),
                }),
                () = cancel.cancelled() => Answer::Cancelled,
            }
        })
        .boxed()
    }
}

impl GitWorktrees {
    async fn enter(&self, call: &ToolCall) -> Result<EnterWorktreeOutput, WorktreeError> {
        let input: EnterWorktreeInput =
            (call.input.decode()).map_err(|error| WorktreeError::Input(error.to_string()))?;
        if let Some(path) = &input.path {
            return self.enter_given(path, input.name.as_deref()).await;
        }
        let here = Path::new(&call.grant.cwd);
        let repository = repository(here).await?;
        let name = input.name.unwrap_or_else(|| {
            let id = fresh_uuid().to_string();
            format!("work-{}", &id[..8])
        });
        let path = repository.join(FOLDER).join(&name);
        if path.exists() {
            return gone_back_to(path).await;
        }
        let begin = git(here, &["rev-parse", "HEAD^{commit}"]).await?;
        let branch = format!("worktree-{name}");
        let place = path.to_string_lossy();
        let reference = format!("refs/heads/{branch}");
        // An existing branch of that name is reused, with its commits.
        let is_new = match git(here, &["show-ref", "--verify", "--quiet", &reference]).await {
            Ok(_) => false,
            Err(WorktreeError::Refused(_)) => true,
            Err(error) => return Err(error),
        };
        let mut arguments = vec!["worktree", "add", "--quiet"];
        match is_new {
            true => arguments.extend(["-b", &branch, &place, &begin]),
            false => arguments.extend([&*place, &branch]),
        }
        git(&repository, &arguments).await?;
        let path = real(&path)?;
        if name.starts_with(OF_AGENTS) && is_new {
            self.remember(Made {
                path: path.clone(),
                git: Some(Branch {
                    repository,
                    name: branch.clone(),
                    begin,
                }),
            });
        }
        let at = path.display();
        Ok(EnterWorktreeOutput {
            message: format!("The work goes on in a new worktree, {at}, on the branch {branch}."),
            worktree_path: at.to_string(),
            worktree_branch: Some(branch),
        })
    }

    /// Enters a worktree that a hook reports to have made.
    async fn enter_given(
        &self,
        path: &str,
        name: Option<&str>,
    ) -> Result<EnterWorktreeOutput, WorktreeError> {
        let given = Path::new(path);
        let unusable = |reason: &str| WorktreeError::Unusable {
            path: given.to_path_buf(),
            reason: reason.to_owned(),
        };
        if !given.is_absolute() {
            return Err(unusable("a hook gave it, and it is no absolute path"));
        }
        let path = real(given)?;
        if !path.is_dir() {
            return Err(unusable("it is not a directory"));
        }
        if name.is_some_and(|name| name.starts_with(OF_AGENTS)) {
            self.remember(Made {
                path: path.clone(),
                git: None,
            });
        }
        // It may not be a git worktree at all.
        let branch = git(&path, &["branch", "--show-current"]).await.ok();
        let at = path.display();
        Ok(EnterWorktreeOutput {
            message: format!("The work goes on in the worktree {at}, which a hook has made."),
            worktree_path: at.to_string(),
            worktree_branch: branch.filter(|branch| !branch.is_empty()),
        })
    }

    fn of_agents(&self) -> MutexGuard<'_, Vec<Made>> {
        // A panic while the lock is held leaves a complete list.
        self.of_agents
            .lock()
            .unwrap_or_else(PoisonError::into_inner)
    }

    fn remember(&self, made: Made) {
        self.of_agents().push(made);
    }

    /// Takes the subagents' worktrees that are to be removed from the list: those without changes, and those made by
    /// hooks. The caller runs the hooks for each and calls [`remove`].
    pub(crate) async fn to_remove(&self) -> Vec<Made> {
        let of_agents = std::mem::take(&mut *self.of_agents());
        let mut going = Vec::new();
        for made in of_agents {
            let is_unchanged = match &made.git {
                None => made.path.exists(),
                Some(branch) => {
                    let head = git(&made.path, &["rev-parse", "HEAD"]).await;
                    let changes = git(
                        &made.path,
                        &["status", "--porcelain", "--ignore-submodules=dirty"],
                    )
                    .await;
                    head.is_ok_and(|head| head == branch.begin)
                        && changes.is_ok_and(|changes| changes.is_empty())
                }
            };
            if is_unchanged {
                going.push(made);
            }
        }
        going
    }
}

/// The worktrees of a session's subagents at its end: they are listed so that hooks are told of them, and then removed.
#[derive(Debug, Default)]
pub(crate) struct WorktreesToRemove {
    all: GitWorktrees,
    going: Mutex<Vec<Made>>,
}

impl WorktreesToRemove {
    /// The part that creates worktrees.
    pub(crate) fn made(&self) -> GitWorktrees {
        self.all.clone()
    }

    /// Lists the worktrees to remove, as events for hooks.
    pub(crate) async fn list(&self) -> Vec<Occurrence> {
        let going = self.all.to_remove().await;
        let told = going.iter().map(Made::occurrence).collect();
        *self.going() = going;
        told
    }

    /// Removes the listed worktrees.
    pub(crate) async fn remove(&self) {
        let going = std::mem::take(&mut *self.going());
        remove(going).await;
    }

    fn going(&self) -> MutexGuard<'_, Vec<Made>> {
        // A panic while the lock is held leaves a complete list.
        self.going.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl Made {
    /// The event for hooks before the worktree is removed.
    pub(crate) fn occurrence(&self) -> Occurrence {
        Occurrence::WorktreeRemove(WorktreeRemove {
            worktree_path: self.path.display().to_string(),
        })
    }
}

/// Removes worktrees and their branches. Those made by hooks are left to hooks.
pub(crate) async fn remove(going: Vec<Made>) {
    for Made { path, git: branch } in going {
        let Some(branch) = branch else { continue };
        let place = path.to_string_lossy();
        // Git refuses if files were changed or added meanwhile; then the worktree stays.
        if git(&branch.repository, &["worktree", "remove", &place])
            .await
            .is_ok()
        {
            let delete = ["branch", "--quiet", "-D", &branch.name];
            let _ = git(&branch.repository, &delete).await;
        }
    }
}

/// The main work tree of the repository that contains a directory. The directory may be in another worktree.
async fn repository(here: &Path) -> Result<PathBuf, WorktreeError> {
    let absolute = "--path-format=absolute";
    let common = git(here, &["rev-parse", absolute, "--git-common-dir"]).await?;
    let common = Path::new(&common);
    match (common.file_name(), common.parent()) {
        (Some(name), Some(main)) if name == ".git" => Ok(main.to_path_buf()),
        // The git directory is not inside of the work tree.
        _ => git(here, &["rev-parse", "--show-toplevel"])
            .await
            .map(PathBuf::from),
    }
}

/// Enters an existing worktree.
async fn gone_back_to(path: PathBuf) -> Result<EnterWorktreeOutput, WorktreeError> {
    let path = real(&path)?;
    let top = git(&path, &["rev-parse", "--show-toplevel"]).await;
    if !top.is_ok_and(|top| Path::new(&top) == path) {
        return Err(WorktreeError::Occupied(path));
    }
    let branch = git(&path, &["branch", "--show-current"]).await?;
    let at = path.display();
    Ok(EnterWorktreeOutput {
        message: format!("The work goes on in the worktree {at}, which was there already."),
        worktree_path: at.to_string(),
        worktree_branch: Some(branch).filter(|branch| !branch.is_empty()),
    })
}

/// The path without symbolic links, as text.
fn real(path: &Path) -> Result<PathBuf, WorktreeError> {
    let unusable = |reason: String| WorktreeError::Unusable {
        path: path.to_path_buf(),
        reason,
    };
    let real = std::fs::canonicalize(path).map_err(|error| unusable(error.to_string()))?;
    match real.to_str() {
        Some(_) => Ok(real),
        None => Err(unusable("its name is not UTF-8".to_owned())),
    }
}

/// Settings with which git starts no program that the repository names, since nobody has approved them.
const NOTHING_STARTED: [&str; 6] = [
    "-c",
    "core.hooksPath=/dev/null",
    "-c",
    "core.fsmonitor=false",
    "-c",
    "submodule.recurse=false",
];

/// The filters that the repository's own settings define, each as settings that disable it. Filters of the user's and
/// the system's settings stay.
async fn filters_off(directory: &Path) -> Result<Vec<String>, WorktreeError> {
    let list = ["config", "--includes", "--show-scope", "--name-only", "-z"];
    let arguments = [&list[..], &["--get-regexp", "^filter\\."]].concat();
    let said = match started(directory, &arguments, &[]).await {
        Ok(said) => said,
        // No filters are defined.
        Err(WorktreeError::Refused(said)) if said.is_empty() => return Ok(Vec::new()),
        Err(error) => return Err(error),
    };
    let mut fields = said.split('\0');
    let mut names = BTreeSet::new();
    while let (Some(scope), Some(key)) = (fields.next(), fields.next()) {
        let is_persons = matches!(scope.trim(), "system" | "global");
        let name = key
            .strip_prefix("filter.")
            .and_then(|it| it.rsplit_once('.'));
        if let (false, Some((name, _))) = (is_persons, name) {
            names.insert(name.to_owned());
        }
    }
    let off = names.iter().flat_map(|name| {
        ["smudge=", "clean=", "process=", "required=false"]
            .map(|setting| format!("filter.{name}.{setting}"))
    });
    Ok(off.collect())
}

/// Runs git in a directory and returns its output. No program from the repository's own settings is run.
async fn git(directory: &Path, arguments: &[&str]) -> Result<String, WorktreeError> {
    let off = filters_off(directory).await?;
    started(directory, arguments, &off).await
}

async fn started(
    directory: &Path,
    arguments: &[&str],
    settings: &[String],
) -> Result<String, WorktreeError> {
    let mut command = Command::from(child::command("git"));
    command
        .args(NOTHING_STARTED)
        .args(settings.iter().flat_map(|setting| ["-c", setting]))
        .args(arguments)
        .current_dir(directory)
        .env("GIT_TERMINAL_PROMPT", "0")
        // Missing objects of a partial clone are not fetched, since fetching runs a program that the repository names.
        .env("GIT_NO_LAZY_FETCH", "1")
        .env("GIT_ALLOW_PROTOCOL", "none")
        .stdin(Stdio::null())
        .stdout(Stdio::piped())
        .stderr(Stdio::piped())
        .kill_on_drop(true);
    for variable in ELSEWHERE {
        command.env_remove(variable);
    }
    let running = child::spawn(&mut command).map_err(WorktreeError::NoGit)?;
    let ran = timeout(LIMIT, running.wait_with_output()).await;
    let output = ran
        .map_err(|_| WorktreeError::TooLong)?
        .map_err(WorktreeError::NoGit)?;
    match output.status.success() {
        true => Ok(String::from_utf8_lossy(&output.stdout).trim().to_owned()),
        false => {
            let said = String::from_utf8_lossy(&output.stderr).trim().to_owned();
            Err(WorktreeError::Refused(said))
        }
    }
}
