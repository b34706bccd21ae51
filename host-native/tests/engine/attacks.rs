//! Lines that once got through, by a model behind the engine of the SDKs.

use std::sync::Arc;

use serde_json::json;

use crate::{
    attack_lines::{Session, Stage, none_of},
    support::Sdk,
};

/// Runs a session, and says what came of it that must not.
async fn tried(session: &Session) -> Vec<String> {
    let stage = Stage::new();
    let settings = json!({"env": {"PATH": stage.programs()}}).to_string();
    let mut flags = vec!["--permission-mode", session.mode, "--settings", &settings];
    let (allowed, denied) = (session.allowed().join(","), session.denied.join(","));
    for (flag, rules) in [("--allowedTools", &allowed), ("--disallowedTools", &denied)] {
        if !rules.is_empty() {
            flags.extend([flag, rules]);
        }
    }
    let folder = Arc::new(tempfile::tempdir().unwrap());
    let mut sdk = Sdk::start_at(&stage.work(), &[], folder, &flags, session.exchanges());
    sdk.prompt("go").await;
    let result = sdk.first("result").await;
    assert_eq!(result["result"], "done", "{result}");
    sdk.close().await;
    session.faults(&stage)
}

#[tokio::test]
async fn perm_3_perm_4_no_line_starts_through_the_engine_what_nobody_judged() {
    let mut faults = Vec::new();
    for session in Session::attacks() {
        faults.extend(tried(&session).await);
    }
    none_of(&faults);
}

#[tokio::test]
async fn the_lines_do_what_they_are_there_for_where_the_engine_runs_them_as_written() {
    let mut faults = Vec::new();
    for session in Session::controls() {
        faults.extend(tried(&session).await);
    }
    none_of(&faults);
}
