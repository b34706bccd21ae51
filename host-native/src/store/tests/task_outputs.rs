//! Output of background commands.

use std::fs;

use windlass_core::effect::Answer;
use windlass_engine::store::Lease;

use super::{SharedStore, TaskOutputs, begun, session};

async fn says(outputs: &TaskOutputs, call: &str, text: &str) {
    let answer = Answer::Output(text.into());
    outputs.answered(session(), call, &answer).await.unwrap();
}

#[tokio::test]
async fn tool_6_the_end_of_a_command_names_the_file_with_all_it_has_put_out() {
    let root = tempfile::tempdir().unwrap();
    let (store, lease) = begun(root.path()).await;
    let outputs = TaskOutputs::new(SharedStore::new(store));
    // Output may arrive before the session announces the command.
    says(&outputs, "t/1", "one\n").await;
    let first = outputs.begin(lease.clone(), "t/1").await.unwrap();
    says(&outputs, "t/1", "two\n").await;
    let last = Answer::Cancelled;
    outputs.answered(session(), "t/1", &last).await.unwrap();
    assert_eq!(fs::read_to_string(&first).unwrap(), "one\ntwo\n");
    assert!(first.ends_with(&format!("/{}/tasks/t1.output", session())));

    // A command without output has a file as well, and a call with the same id has its own.
    let second = outputs.begin(lease, "t/1").await.unwrap();
    assert_ne!(second, first);
    assert_eq!(fs::read_to_string(&second).unwrap(), "");
}

#[tokio::test]
async fn a_command_that_never_stops_talking_does_not_fill_the_disk() {
    let root = tempfile::tempdir().unwrap();
    let (store, lease) = begun(root.path()).await;
    let outputs = TaskOutputs::new(SharedStore::new(store));
    let file = outputs.begin(lease, "t").await.unwrap();
    let mebibyte = "x".repeat(1 << 20);
    for _ in 0..80 {
        says(&outputs, "t", &mebibyte).await;
    }
    let length = fs::metadata(&file).unwrap().len();
    assert!(length < 66 << 20, "{length}");
    assert!(fs::read_to_string(&file).unwrap().ends_with("bytes]\n"));
}

#[tokio::test]
async fn output_that_cannot_be_kept_is_lost_and_nothing_else() {
    let root = tempfile::tempdir().unwrap();
    let (store, lease) = begun(root.path()).await;
    let outputs = TaskOutputs::new(SharedStore::new(store));
    let stale = Lease {
        epoch: lease.epoch + 1,
        ..lease.clone()
    };
    says(&outputs, "t", "early\n").await;
    outputs.begin(stale, "t").await.unwrap_err();
    says(&outputs, "t", "late\n").await;
    let last = Answer::Cancelled;
    outputs.answered(session(), "t", &last).await.unwrap();
    let again = outputs.begin(lease, "t").await.unwrap();
    assert_eq!(fs::read_to_string(again).unwrap(), "");
}
