//! What commands in the background put out.

use std::fs;

use windlass_core::effect::Answer;

use super::{TaskOutputs, files, session};

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
    let first = outputs.begin("t/1").unwrap();
    says("t/1", "two\n");
    outputs.end("t/1");
    assert_eq!(fs::read_to_string(&first).unwrap(), "one\ntwo\n");
    let folder = files.task_outputs(session());
    assert_eq!(first, folder.join("t1.output"));

    // One that says nothing has a file all the same; a call of the same id has its own.
    let second = outputs.begin("t/1").unwrap();
    assert_ne!(second, first);
    assert_eq!(fs::read_to_string(&second).unwrap(), "");
}

#[test]
fn a_command_that_never_stops_talking_does_not_fill_the_disk() {
    let root = tempfile::tempdir().unwrap();
    let outputs = TaskOutputs::new(&files(root.path()), session());
    let mebibyte = Answer::Output("x".repeat(1 << 20));
    for _ in 0..80 {
        outputs.answered("t", &mebibyte).unwrap();
    }
    let file = outputs.begin("t").unwrap();
    let length = fs::metadata(&file).unwrap().len();
    assert!(length < 66 << 20, "{length}");
    assert!(fs::read_to_string(&file).unwrap().ends_with("bytes]\n"));
}
