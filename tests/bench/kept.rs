//! Sessions that are kept: what a store costs, and what a session that is resumed reads of the prompt cache.

use std::{
    path::Path,
    process::{Command, ExitCode, Stdio},
};

use futures_util::{StreamExt as _, stream};
use tempfile::TempDir;
use windlass::{
    Agent, AgentBuilder,
    model_server::{ModelServer, Script},
    store::{ConfigDir, FileStore},
};
use windlass_testkit::PromptCache;

use crate::{
    process::cpu_ms,
    server::BenchServer,
    table::{Goal, Table, in_turns},
};

/// Sessions of a process.
const SESSIONS: usize = 1000;

/// Sessions at the same time.
const AT_ONCE: usize = 16;

/// Prompts of the session that is resumed before each.
const PROMPTS: usize = 10;

/// The shortest prefix that is cached, in tokens.
const SHORTEST_PREFIX: u64 = 1024;

pub(crate) fn measure(table: &mut Table) {
    // What sessions in files cost, without what a disk's file system adds: ext4 looks for an inode that was not freed in the last five
    // minutes, which after the removal of many files takes longer than all the rest.
    let in_memory = tempfile::tempdir_in("/dev/shm").or_else(|_| tempfile::tempdir());
    sessions(table, "files in memory", &in_memory, Goal::AtMost(1.5));
    let on_disk = tempfile::tempdir();
    sessions(table, "files on the disk", &on_disk, Goal::None);
    let figure = format!(
        "input read from the prompt cache, a session of {PROMPTS} prompts resumed before each (never stopped)"
    );
    let (resumed, whole) = (hit_percent(true), hit_percent(false));
    table.pair(&figure, "%", resumed, whole, Goal::AtLeast(1.0));
}

/// The processor time of sessions in files of a folder, against that of sessions that are kept nowhere.
fn sessions(table: &mut Table, name: &str, folder: &std::io::Result<TempDir>, goal: Goal) {
    let folder = folder.as_ref().expect("a folder for sessions").path();
    let server = BenchServer::start(0);
    let spawned = |kind| spawn(kind, &server.url, folder);
    // All rounds leave their files until the last one is over: no round pays for the files of another.
    let (kept, not_kept) = in_turns(15, || spawned("files"), || spawned("none"));
    let figure = format!("CPU of {SESSIONS} sessions of one turn in {name} (kept nowhere)");
    table.pair(&figure, "ms", kept, not_kept, goal);
}

fn spawn(kind: &str, url: &str, folder: &Path) -> f64 {
    let program = std::env::current_exe().expect("this program has a path");
    let output = Command::new(program)
        .args(["kept", kind, url])
        .arg(folder)
        .stdin(Stdio::null())
        .stderr(Stdio::inherit())
        .output()
        .expect("a client process starts");
    let printed = String::from_utf8_lossy(&output.stdout);
    printed.trim().parse().expect("the client reports")
}

/// The client processes: `kept files|none URL FOLDER`. What they write stays there.
pub(crate) fn client(kind: &str, url: &str, folder: &str) -> ExitCode {
    let runtime = runtime();
    let folder = tempfile::tempdir_in(folder).expect("a folder for sessions");
    let folder = folder.keep();
    let agent = (Agent::builder().base_url(url))
        .api_key("bench")
        .model("claude-sonnet-4-6");
    let agent = match kind {
        "files" => agent.store(FileStore::new(&ConfigDir::at(&folder), &folder)),
        _ => agent,
    };
    let agent = agent.build().expect("the agent is complete");
    let sessions = stream::iter(0..SESSIONS).map(|_| agent.run("go"));
    let ended = sessions.buffer_unordered(AT_ONCE).filter(|result| {
        let is_done = result.as_ref().is_ok_and(|result| !result.is_error);
        async move { is_done }
    });
    let completed = runtime.block_on(ended.count());
    assert_eq!(completed, SESSIONS, "every session has its answer");
    println!("{}", cpu_ms());
    ExitCode::SUCCESS
}

/// Of a hundred tokens of input of a session so many were read from the cache.
fn hit_percent(is_resumed: bool) -> f64 {
    let answers: Vec<String> = (0..PROMPTS).map(|n| format!("Answer {n}.")).collect();
    let script = Script::says(answers.iter().map(String::as_str));
    let server = ModelServer::start(script).expect("a model server");
    let folder = tempfile::tempdir().expect("a folder for sessions");
    let agent = |resumes: bool| {
        let store = FileStore::new(&ConfigDir::at(folder.path()), folder.path());
        let agent: AgentBuilder = (Agent::builder().base_url(server.url()))
            .api_key("bench")
            .model("claude-sonnet-4-6")
            .system_prompt("You are terse. ".repeat(400))
            .store(store);
        let agent = if resumes {
            agent.continue_latest()
        } else {
            agent
        };
        agent.build().expect("the agent is complete")
    };
    let prompt = |n: usize| format!("Prompt {n}: {}", "what follows is context. ".repeat(80));
    runtime().block_on(async {
        match is_resumed {
            true => {
                for n in 0..PROMPTS {
                    let result = agent(n > 0).run(prompt(n)).await;
                    assert!(
                        result.is_ok_and(|it| !it.is_error),
                        "prompt {n} is answered"
                    );
                }
            }
            false => {
                let session = agent(false).session();
                for n in 0..PROMPTS {
                    let result = session.prompt(prompt(n)).result().await;
                    assert!(
                        result.is_ok_and(|it| !it.is_error),
                        "prompt {n} is answered"
                    );
                }
                session.close().await;
            }
        }
    });
    let mut cache = PromptCache::new(SHORTEST_PREFIX);
    let (mut read, mut tokens) = (0, 0);
    for request in server.requests() {
        let used = cache.request(&request.body).expect("a body is JSON");
        (read, tokens) = (read + used.read, tokens + used.tokens);
    }
    100.0 * read as f64 / tokens as f64
}

fn runtime() -> tokio::runtime::Runtime {
    tokio::runtime::Builder::new_current_thread()
        .enable_all()
        .build()
        .expect("a runtime")
}
