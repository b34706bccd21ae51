//! Tools that are not closures: components and commands, through the agent.

use serde_json::json;
use windlass::{
    Message,
    core::message::SystemMessage,
    plugins::{Cache, PluginHost, PluginHostConfig},
};

use crate::{
    guest,
    support::{Model, calls, done_after, messages, text},
};

#[tokio::test]
async fn card_3_wasmtime_starts_with_the_first_call_of_a_component_and_not_before() {
    let work = tempfile::tempdir().unwrap();
    std::fs::write(work.path().join("note.txt"), "buy milk\n").unwrap();
    let model = Model::of(json!([
        { "respond": "nothing to do" },
        calls(&[("Read", json!({ "file_path": "note.txt" }))]),
        { "expect": { "tool_results": [{ "contains": "buy milk" }] }, "respond": "done" },
    ]));
    let plugins = PluginHost::new(PluginHostConfig {
        cache: Cache::of_user(),
        ..PluginHostConfig::default()
    });
    let agent = model
        .agent()
        .builtin_tools()
        .plugin_host(plugins.clone())
        .allowed_tools(["Read"])
        .cwd(work.path())
        .build()
        .unwrap();
    agent.run("hello").await.unwrap();
    assert!(!plugins.has_started());
    agent.run("read the note").await.unwrap();
    assert!(plugins.has_started());
    model.verify();
}

#[tokio::test]
async fn card_3_a_path_of_very_many_names_is_refused_at_once() {
    let work = tempfile::tempdir().unwrap();
    let path = "a/".repeat(50_000);
    let model = Model::of(json!([
        calls(&[("Read", json!({ "file_path": path }))]),
        done_after("it is longer than 4096 bytes", true),
    ]));
    let agent = model
        .agent()
        .builtin_tools()
        .allowed_tools(["Read"])
        .disallowed_tools(["Read(./secret/**)", "Read(*.pem)"])
        .cwd(work.path())
        .build()
        .unwrap();
    agent.run("go").await.unwrap();
    model.verify();
}

#[tokio::test]
async fn conf_8_a_component_file_gives_its_tools_and_is_named_in_init() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("my-tool.wasm");
    let answers = "(i32.store16 (i32.const 2080) (i32.const 0x6b6f)) (call $text (i32.const 2080) (i32.const 2))";
    std::fs::write(&path, guest::component(answers)).unwrap();
    let model = Model::of(json!([calls(&[("t", json!({}))]), done_after("ok", false)]));
    let agent = model
        .agent()
        .plugin(&path)
        .allowed_tools(["t"])
        .cwd(folder.path())
        .build()
        .unwrap();
    let messages = messages(&mut agent.query("go")).await;
    let Some(Message::System(SystemMessage::Init(init))) = messages.first() else {
        panic!("{messages:?}");
    };
    assert_eq!(init.plugins[0].name, "my-tool");
    assert_eq!(init.plugins[0].path, path.to_str().unwrap());
    assert!(init.tools.contains(&"t".to_owned()));
    model.verify();
}

#[cfg(unix)]
#[tokio::test]
async fn a_command_runs_in_the_working_directory() {
    let work = tempfile::tempdir().unwrap();
    std::fs::write(work.path().join("here.txt"), "").unwrap();
    let model = Model::of(json!([
        calls(&[("Bash", json!({ "command": "ls -1" }))]),
        done_after("here.txt", false),
    ]));
    let agent = model
        .agent()
        .tools(["Bash"])
        .allowed_tools(["Bash(ls:*)"])
        .cwd(work.path())
        .build()
        .unwrap();
    assert_eq!(text(agent.run("what is here?").await.unwrap()), "done");
    model.verify();
}

#[cfg(target_os = "linux")]
#[tokio::test]
async fn api_2_an_abort_kills_a_command() {
    let work = tempfile::tempdir().unwrap();
    let pipe = work.path().join("pipe");
    assert!(
        std::process::Command::new("mkfifo")
            .arg(&pipe)
            .status()
            .unwrap()
            .success()
    );
    // The command tells its process id, then sleeps for longer than any test runs.
    let model = Model::of(json!([calls(&[(
        "Bash",
        json!({ "command": "echo $$ > pipe; sleep 500" })
    )])]));
    let agent = model
        .agent()
        .tools(["Bash"])
        .allowed_tools(["Bash"])
        .cwd(work.path())
        .build()
        .unwrap();
    let session = agent.session();
    let run = session.prompt("go");
    let told = tokio::task::spawn_blocking(move || std::fs::read_to_string(pipe).unwrap());
    let process = format!("/proc/{}", told.await.unwrap().trim());
    assert!(std::path::Path::new(&process).exists());
    run.abort_handle().abort();
    drop(run);
    session.close().await;
    assert!(
        !std::path::Path::new(&process).exists(),
        "the shell is gone"
    );
}
