//! What commands in the background put out.

use std::fs;

use serde_json::json;
use windlass_core::{Message, effect::Answer};

use super::{TaskOutputs, files, session};

fn message(subtype: &str, call: &str) -> Message {
    let json = json!({
        "type": "system", "subtype": subtype, "task_id": "b1", "tool_use_id": call, "description": "run it",
        "task_type": "local_bash", "status": "completed", "output_file": "", "summary": "done",
        "uuid": session(), "session_id": session(),
    });
    serde_json::from_value(json).unwrap()
}

/// The file that the end of a command names.
fn ended(outputs: &TaskOutputs, call: &str) -> String {
    let mut end = message("task_notification", call);
    outputs.said(&mut end).unwrap();
    let end: serde_json::Value = serde_json::from_str(&end.to_line()).unwrap();
    end["output_file"].as_str().unwrap().to_owned()
}

#[test]
fn tool_6_the_end_of_a_command_names_the_file_with_all_it_has_put_out() {
    let root = tempfile::tempdir().unwrap();
    let files = files(root.path());
    let outputs = TaskOutputs::new(&files, session());
    let says = |call: &str, text: &str| {
        let said = outputs.answered(call, &Answer::Output(text.into()));
        said.unwrap();
    };
    // It may have something to say before the session tells of it.
    says("t/1", "one\n");
    outputs.said(&mut message("task_started", "t/1")).unwrap();
    says("t/1", "two\n");
    let first = ended(&outputs, "t/1");
    assert_eq!(fs::read_to_string(&first).unwrap(), "one\ntwo\n");
    let folder = files.task_outputs(session());
    assert_eq!(first, folder.join("t1.output").display().to_string());

    // One that says nothing has a file all the same; a call of the same id has its own.
    outputs.said(&mut message("task_started", "t/1")).unwrap();
    let second = ended(&outputs, "t/1");
    assert_ne!(second, first);
    assert_eq!(fs::read_to_string(&second).unwrap(), "");

    // Of what is no command nothing is said.
    assert_eq!(ended(&outputs, "other"), "");
}

#[test]
fn a_command_that_never_stops_talking_does_not_fill_the_disk() {
    let root = tempfile::tempdir().unwrap();
    let outputs = TaskOutputs::new(&files(root.path()), session());
    let mebibyte = Answer::Output("x".repeat(1 << 20));
    for _ in 0..80 {
        outputs.answered("t", &mebibyte).unwrap();
    }
    let file = ended(&outputs, "t");
    let length = fs::metadata(&file).unwrap().len();
    assert!(length < 66 << 20, "{length}");
    assert!(fs::read_to_string(&file).unwrap().ends_with("bytes]\n"));
}
