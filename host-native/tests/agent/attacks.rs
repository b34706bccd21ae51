//! Lines that once got through, by a model behind the library.

use std::process::Command;

use windlass::core::permission::Mode;

use crate::{
    attack_lines::{Session, Stage, none_of},
    support::Model,
};

/// In a process of its own: the number of the session, and where it works.
const SESSION: &str = "WINDLASS_TEST_SESSION";
const WORK: &str = "WINDLASS_TEST_WORK";

/// Tries sessions. The search path of the library is that of its process, so each has a process: this test, begun anew.
async fn tried(test: &str, sessions: Vec<Session>) {
    if let Ok(number) = std::env::var(SESSION) {
        let number: usize = number.parse().unwrap();
        return try_here(&sessions[number]).await;
    }
    let mut faults = Vec::new();
    for (number, session) in sessions.iter().enumerate() {
        let stage = Stage::new();
        let done = Command::new(std::env::current_exe().unwrap())
            .args(["--exact", test])
            .env("PATH", stage.programs())
            .env(SESSION, number.to_string())
            .env(WORK, stage.work())
            .output()
            .unwrap();
        assert!(done.status.success(), "{done:?}");
        faults.extend(session.faults(&stage));
    }
    none_of(&faults);
}

async fn try_here(session: &Session) {
    let model = Model::of(session.exchanges());
    let agent = model
        .agent()
        .tools(["Bash"])
        .cwd(std::env::var_os(WORK).unwrap())
        .free_workspace_reads(true)
        .permission_mode(Mode::parse(session.mode).unwrap())
        .allowed_tools(session.allowed())
        .disallowed_tools(session.denied.iter().copied())
        .build()
        .unwrap();
    let result = agent.run("go").await.unwrap();
    assert_eq!(result.result.as_deref(), Some("done"));
}

#[tokio::test]
async fn perm_3_perm_4_no_line_starts_through_the_library_what_nobody_judged() {
    let test = "attacks::perm_3_perm_4_no_line_starts_through_the_library_what_nobody_judged";
    tried(test, Session::attacks()).await;
}

#[tokio::test]
async fn the_lines_do_what_they_are_there_for_where_the_library_runs_them_as_written() {
    let test =
        "attacks::the_lines_do_what_they_are_there_for_where_the_library_runs_them_as_written";
    tried(test, Session::controls()).await;
}
