//! Git worktrees, made by the git of the machine: where the session or an agent of its own goes to work.
//!
//! They stand below `.claude/worktrees` of the repository, each on a branch of its own that begins where the work left. Those of
//! agents go with the session if nothing was changed in them; all others stay, with what was done there.

use std::{
    path::{Path, PathBuf},
    process::Stdio,
    sync::{Arc, Mutex, PoisonError},
    time::Duration,
};

use futures_util::stream::{self, BoxStream, StreamExt};
use tokio::{process::Command, time::timeout};
use windlass_core::{
    EffectId,
    effect::Answer,
    host::CancelSignal,
    tool::{ToolCall, ToolResult},
    tools::enter_worktree::{EnterWorktreeInput, EnterWorktreeOutput},
};

use crate::{agent::fresh_uuid, host::RunTool};

/// Where they stand in a repository.
const FOLDER: &str = ".claude/worktrees";

/// What the core calls those that it makes for agents begin with.
const OF_AGENTS: &str = "agent-";

/// How long git may take. A checkout of a large repository is measured in tens of seconds.
const LIMIT: Duration = Duration::from_secs(600);

/// Variables that would make git work in another repository than that of its directory.
const ELSEWHERE: [&str; 5] = [
    "GIT_DIR",
    "GIT_WORK_TREE",
    "GIT_INDEX_FILE",
    "GIT_COMMON_DIR",
    "GIT_NAMESPACE",
];

/// Makes worktrees for a session, and takes away again those that nobody needed. Cloning is cheap.
#[derive(Debug, Clone, Default)]
pub(crate) struct GitWorktrees {
    of_agents: Arc<Mutex<Vec<Made>>>,
}

/// A worktree that was made.
#[derive(Debug)]
struct Made {
    repository: PathBuf,
    path: PathBuf,
    branch: String,
    /// The commit that it began with.
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
        // A branch that was left is taken up again, with what was done on it.
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
            let made = Made {
                repository,
                path: path.clone(),
                branch: branch.clone(),
                begin,
            };
            // A panic while it is held leaves a list that is whole.
            let mut of_agents = self
                .of_agents
                .lock()
                .unwrap_or_else(PoisonError::into_inner);
            of_agents.push(made);
        }
        let at = path.display();
        Ok(EnterWorktreeOutput {
            message: format!("The work goes on in a new worktree, {at}, on the branch {branch}."),
            worktree_path: at.to_string(),
            worktree_branch: Some(branch),
        })
    }

    /// Takes away the worktrees of agents in which nothing was changed, with their branches.
    pub(crate) async fn remove_unchanged(&self) {
        let of_agents = {
            let mut of_agents = self
                .of_agents
                .lock()
                .unwrap_or_else(PoisonError::into_inner);
            std::mem::take(&mut *of_agents)
        };
        for made in of_agents {
            let head = git(&made.path, &["rev-parse", "HEAD"]).await;
            if head.is_ok_and(|head| head == made.begin) {
                let place = made.path.to_string_lossy();
                // Git refuses where files were changed or added; then it stays.
                if git(&made.repository, &["worktree", "remove", &place])
                    .await
                    .is_ok()
                {
                    let _ = git(&made.repository, &["branch", "--quiet", "-D", &made.branch]).await;
                }
            }
        }
    }
}

/// The main tree of the repository around a directory, which may be a worktree itself.
async fn repository(here: &Path) -> Result<PathBuf, WorktreeError> {
    let absolute = "--path-format=absolute";
    let common = git(here, &["rev-parse", absolute, "--git-common-dir"]).await?;
    let common = Path::new(&common);
    match (common.file_name(), common.parent()) {
        (Some(name), Some(main)) if name == ".git" => Ok(main.to_path_buf()),
        // Its git folder is elsewhere.
        _ => git(here, &["rev-parse", "--show-toplevel"])
            .await
            .map(PathBuf::from),
    }
}

/// A worktree that is there already.
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

/// Without links, and as text.
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

/// Runs git in a directory; what it wrote. The repository's own hooks do not run: nobody has judged them.
async fn git(directory: &Path, arguments: &[&str]) -> Result<String, WorktreeError> {
    let mut command = Command::new("git");
    command
        .args(["-c", "core.hooksPath=/dev/null"])
        .args(arguments)
        .current_dir(directory)
        .env("GIT_TERMINAL_PROMPT", "0")
        .stdin(Stdio::null())
        .kill_on_drop(true);
    for variable in ELSEWHERE {
        command.env_remove(variable);
    }
    let ran = timeout(LIMIT, command.output()).await;
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
