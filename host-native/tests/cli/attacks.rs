//! Lines that once got through, by a model behind the command.

use crate::{
    attack_lines::{Session, Stage, none_of},
    support::{Done, Windlass, model},
};

/// Runs a session, and says what came of it that must not.
fn tried(session: &Session) -> Vec<String> {
    let stage = Stage::new();
    let server = model(&serde_json::json!({ "exchanges": session.exchanges() }).to_string());
    let windlass = Windlass::asking(&server);
    let (allowed, denied) = (session.allowed().join(","), session.denied.join(","));
    let mut args = vec!["-p", "Go", "--permission-mode", session.mode];
    for (flag, rules) in [("--allowedTools", &allowed), ("--disallowedTools", &denied)] {
        if !rules.is_empty() {
            args.extend([flag, rules]);
        }
    }
    let mut command = windlass.command(&args);
    command
        .current_dir(stage.work())
        .env("PATH", stage.programs());
    let done = Done::of(&command.output().unwrap());
    assert_eq!(
        (done.code, done.stdout.as_str()),
        (Some(0), "done\n"),
        "{done:?}"
    );
    session.faults(&stage)
}

#[test]
fn perm_3_perm_4_no_line_starts_through_the_command_what_nobody_judged() {
    let faults: Vec<String> = Session::attacks().iter().flat_map(tried).collect();
    none_of(&faults);
}

#[test]
fn the_lines_do_what_they_are_there_for_where_the_command_runs_them_as_written() {
    let faults: Vec<String> = Session::controls().iter().flat_map(tried).collect();
    none_of(&faults);
}
