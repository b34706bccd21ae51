//! Sessions that outlive the program: kept in a store, and gone on with.

use std::{
    collections::BTreeSet,
    path::Path,
    sync::{Arc, Mutex},
};

use serde_json::{Value, json};
use windlass::{
    BuildError, NoInput, RunError, Tool, ToolContext,
    checkpoints::RewindFilesError,
    core::{
        Prompt, Uuid, agent::AgentDefinition, permission::Destination, tools::CoreTool, uuid_v4,
    },
    store::{
        Batch, ConfigDir, FileStore, Lease, MemoryStore, SendStore, StoreError, Stored,
        StoredSession,
    },
};

use crate::support::{Model, calls, text};

fn store(root: &Path) -> FileStore {
    FileStore::new(&ConfigDir::at(root.join("config")), root)
}

async fn lines(store: &impl SendStore, session: Uuid) -> Vec<Value> {
    let stored = store.load(session, None).await.unwrap().unwrap();
    let text = String::from_utf8(stored.text).unwrap();
    text.lines()
        .map(|line| serde_json::from_str(line).unwrap())
        .collect()
}

#[tokio::test]
async fn sess_1_a_session_is_gone_on_with_by_its_id_after_a_restart() {
    let model = Model::of(json!([
        { "expect": { "messages": 1 }, "respond": "Hello, Ishmael." },
        { "expect": { "messages": 3, "last_user_contains": "my name" }, "respond": "Ishmael." },
    ]));
    let root = tempfile::tempdir().unwrap();
    let agent = model.agent().store(store(root.path())).build().unwrap();
    let first = agent.run("Call me Ishmael.").await.unwrap();

    let again = model.agent().store(store(root.path()));
    let again = again.resume(first.session_id.to_string()).build().unwrap();
    let session = again.session();
    assert_eq!(session.id().await, first.session_id);
    let second = session.prompt("What is my name?").result().await.unwrap();
    assert_eq!(second.session_id, first.session_id);
    assert_eq!(text(second), "Ishmael.");
    session.close().await;
    model.verify();

    let kept = lines(&store(root.path()), first.session_id).await;
    let kinds: Vec<&str> = kept.iter().map(|l| l["type"].as_str().unwrap()).collect();
    let turn = ["user", "assistant", "last-prompt", "cost-state"];
    assert_eq!(kinds, [turn, turn].concat());
    assert_eq!(kept[4]["parentUuid"], kept[1]["uuid"], "one chain");
    assert_eq!(kept[0]["entrypoint"], "sdk-rust");
}

/// An agent would go on with the transcript of another one, and an effect would have the idempotency key of another one.
#[tokio::test]
async fn sess_1_what_begins_after_a_restart_has_ids_of_its_own() {
    let task = json!({"description": "d", "prompt": "Look.", "subagent_type": "scout"});
    let turn = || {
        vec![
            calls(&[("Pay", json!({})), ("Task", task.clone())]),
            json!({ "respond": "I looked." }),
            json!({ "respond": "Done." }),
        ]
    };
    let model = Model::of(json!([turn(), turn()].concat()));
    let kept = MemoryStore::default();
    let paid = Arc::new(Mutex::new(Vec::new()));
    let mut session = None;
    for _ in 0..2 {
        let paid = Arc::clone(&paid);
        let pay = Tool::with_context("Pay", "Pays.", move |_: NoInput, context: ToolContext| {
            paid.lock().unwrap().push(context.effect_id().to_string());
            async { "paid" }
        });
        let scout = AgentDefinition::new("Looks around.", "You look around.");
        let mut agent = (model.agent().store(kept.again()).tool(pay)).core_tools([CoreTool::Task]);
        agent = agent
            .subagent("scout", scout)
            .allowed_tools(["Pay", "Task"]);
        if let Some(id) = session.take() {
            agent = agent.resume(Uuid::to_string(&id));
        }
        let result = agent.build().unwrap().run("Go.").await.unwrap();
        session = Some(result.session_id);
    }
    model.verify();

    let paid = paid.lock().unwrap().clone();
    assert_eq!(paid.len(), 2);
    assert_ne!(paid[0], paid[1]);
    let lines = lines(&kept, session.unwrap()).await;
    let agents: BTreeSet<&str> = (lines.iter())
        .filter_map(|line| line["toolUseResult"]["agentId"].as_str())
        .collect();
    assert_eq!(agents.len(), 2, "{agents:?}");
}

#[tokio::test]
async fn sess_1_the_latest_session_goes_on_and_a_first_one_begins() {
    let model = Model::of(json!([
        { "expect": { "messages": 1 }, "respond": "one" },
        { "expect": { "messages": 3 }, "respond": "two" },
    ]));
    let kept = MemoryStore::default();
    let agent = |store| {
        model
            .agent()
            .store(store)
            .continue_latest()
            .build()
            .unwrap()
    };
    let first = agent(kept.again()).run("1").await.unwrap();
    let second = agent(kept.again());
    let session = second.session();
    let result = session.prompt("2").result().await.unwrap();
    assert_eq!(result.session_id, first.session_id);
    assert_eq!(session.id().await, first.session_id);
    model.verify();
}

#[tokio::test]
async fn sess_3_a_fork_has_an_id_of_its_own_and_leaves_the_other_alone() {
    let model = Model::of(json!([
        { "respond": "one" },
        { "expect": { "messages": 3 }, "respond": "two" },
    ]));
    let kept = MemoryStore::default();
    let agent = model.agent().store(kept.clone()).build().unwrap();
    let first = agent.run("1").await.unwrap().session_id;
    let before = lines(&kept, first).await;
    let fork = model.agent().store(kept.clone()).resume(first.to_string());
    let fork = fork.fork(true).build().unwrap();
    let second = fork.run("2").await.unwrap().session_id;
    assert_ne!(second, first);
    assert_eq!(lines(&kept, first).await, before);
    let copied = lines(&kept, second).await;
    assert_eq!(copied[0]["forkedFrom"]["sessionId"], json!(first));
    assert_eq!(kept.list().await.unwrap().len(), 2);
    model.verify();
}

#[tokio::test]
async fn sess_4_a_session_that_somebody_writes_to_is_refused_until_it_is_closed() {
    let model = Model::says(["one", "two", "three"]);
    let kept = MemoryStore::default();
    let agent = model.agent().store(kept.again()).build().unwrap();
    let session = agent.session();
    let id = session.prompt("1").result().await.unwrap().session_id;
    let other = || model.agent().store(kept.again()).resume(id.to_string());
    let refused = other().build().unwrap().run("2").await.unwrap_err();
    assert!(matches!(refused, RunError::NotResumed { .. }), "{refused}");
    assert!(refused.to_string().contains("written by somebody else"));
    // A fork takes nothing away from it.
    other().fork(true).build().unwrap().run("2").await.unwrap();
    session.close().await;
    let result = other().build().unwrap().run("3").await.unwrap();
    assert_eq!(result.session_id, id);
}

#[tokio::test]
async fn sess_1_what_was_spent_is_counted_on() {
    let model = Model::says(["one", "two"]);
    let kept = MemoryStore::default();
    let agent = model.agent().model("claude-sonnet-4-5").store(kept.clone());
    let first = agent.build().unwrap().run("1").await.unwrap();
    let agent = model.agent().model("claude-sonnet-4-5").store(kept);
    let second = agent.continue_latest().build().unwrap();
    let second = second.run("2").await.unwrap();
    assert!(first.total_cost_usd.nanos > 0);
    assert!(second.total_cost_usd.nanos > 2 * first.total_cost_usd.nanos);
    let tokens = |result: &windlass::ResultMessage| {
        let usage = result.model_usage.values();
        usage.map(|usage| usage.output_tokens).sum::<u64>()
    };
    assert!(tokens(&second) > tokens(&first));
}

#[tokio::test]
async fn sess_1_what_is_to_go_on_and_cannot_is_named() {
    let model = Model::says([]);
    let agent = || model.agent();
    let error = |builder: windlass::AgentBuilder| builder.build().unwrap_err();
    let id = "6ba7b810-9dad-41d1-80b4-00c04fd430c8";
    let kept = MemoryStore::default();
    assert!(matches!(
        error(agent().resume(id)),
        BuildError::NoStore("resume")
    ));
    let latest = error(agent().continue_latest());
    assert!(matches!(latest, BuildError::NoStore("continue_latest")));
    let fork = error(agent().store(kept.clone()).fork(true));
    assert!(matches!(fork, BuildError::NothingToFork));
    let no_id = error(agent().store(kept.clone()).resume("yesterday"));
    assert!(
        no_id.to_string().contains("`yesterday` is no session's id"),
        "{no_id}"
    );

    let unknown = agent().store(kept).resume(id).build().unwrap();
    let error = unknown.run("go").await.unwrap_err();
    assert!(
        error
            .to_string()
            .contains(&format!("No conversation found with session ID: {id}"))
    );
}

#[tokio::test]
async fn sess_4_a_call_whose_outcome_is_unknown_is_told_to_the_model_when_the_session_goes_on() {
    let model = Model::of(json!([
        calls(&[("hang", json!({}))]),
        { "expect": { "tool_results": [{ "is_error": true }] }, "respond": "I see." },
    ]));
    let kept = MemoryStore::default();
    let agent = |store: MemoryStore| {
        let hang = Tool::new("hang", "Never ends", |_: NoInput| {
            std::future::pending::<()>()
        });
        model
            .agent()
            .tool(hang)
            .allowed_tools(["hang"])
            .store(store)
    };
    let first = agent(kept.again()).build().unwrap();
    let session = first.session();
    let mut run = session.prompt("go");
    // As a program that is killed while the tool runs.
    while let Some(message) = run.next().await {
        if matches!(message, windlass::Message::Assistant(_)) {
            break;
        }
    }
    let id = session.id().await;
    tokio::time::timeout(std::time::Duration::from_secs(30), run.close())
        .await
        .unwrap();
    session.close().await;
    let again = agent(kept.again()).resume(id.to_string()).build().unwrap();
    assert_eq!(text(again.run("And?").await.unwrap()), "I see.");
}

#[tokio::test]
async fn hook_9_hooks_are_told_where_the_transcript_is() {
    use windlass::core::hook::{HookEvent, HookInput, HookMatcher, HookOutput};
    let model = Model::says(["hi"]);
    let root = tempfile::tempdir().unwrap();
    let kept = store(root.path());
    let (tell, mut told) = tokio::sync::mpsc::unbounded_channel();
    let hook = move |input: HookInput, _| {
        let _ = tell.send(input.transcript_path.clone());
        async { HookOutput::default() }
    };
    let agent = model.agent().store(kept.clone());
    let agent = agent.hook(HookMatcher::of(HookEvent::UserPromptSubmit), hook);
    let result = agent.build().unwrap().run("hello").await.unwrap();
    assert_eq!(
        told.recv().await.unwrap(),
        kept.place(result.session_id, None)
    );
}

/// Two sessions at once with one store, one of which cannot be written.
#[tokio::test]
async fn sess_4_a_transcript_that_cannot_be_written_is_told_and_comes_with_the_next_turn() {
    let model = Model::says(["one", "two"]);
    let kept = MemoryStore::default();
    let failing = FailsOnce {
        store: kept.clone(),
        fails: std::sync::Arc::new(std::sync::atomic::AtomicBool::new(true)),
    };
    let agent = model.agent().store(failing).build().unwrap();
    let session = agent.session();
    session.prompt("1").result().await.unwrap();
    let second = session.prompt("2").result().await.unwrap();
    session.close().await;
    let said: Vec<Value> = (lines(&kept, second.session_id).await.into_iter())
        .filter(|line| line["type"] == "user")
        .map(|line| line["message"]["content"].clone())
        .collect();
    assert_eq!(said, [json!("1"), json!("2")]);
}

#[derive(Clone)]
struct FailsOnce {
    store: MemoryStore,
    fails: std::sync::Arc<std::sync::atomic::AtomicBool>,
}

impl SendStore for FailsOnce {
    async fn create(&self, session: Uuid) -> Result<Lease, StoreError> {
        self.store.create(session).await
    }

    async fn open(&self, session: Uuid) -> Result<Lease, StoreError> {
        self.store.open(session).await
    }

    fn release(&self, lease: &Lease) {
        self.store.release(lease);
    }

    async fn append(&self, lease: &Lease, batch: Batch<'_>) -> Result<(), StoreError> {
        match self.fails.swap(false, std::sync::atomic::Ordering::Relaxed) {
            true => Err(StoreError::failed("writing", "the table", "it is locked")),
            false => self.store.append(lease, batch).await,
        }
    }

    async fn load(&self, session: Uuid, agent: Option<&str>) -> Result<Option<Stored>, StoreError> {
        self.store.load(session, agent).await
    }

    async fn put(&self, lease: &Lease, name: &str, document: &[u8]) -> Result<(), StoreError> {
        self.store.put(lease, name, document).await
    }

    async fn extend(&self, lease: &Lease, name: &str, bytes: &[u8]) -> Result<(), StoreError> {
        self.store.extend(lease, name, bytes).await
    }

    async fn get(&self, session: Uuid, name: &str) -> Result<Option<Vec<u8>>, StoreError> {
        self.store.get(session, name).await
    }

    async fn list(&self) -> Result<Vec<StoredSession>, StoreError> {
        self.store.list().await
    }

    async fn delete(&self, session: Uuid) -> Result<(), StoreError> {
        self.store.delete(session).await
    }

    fn place(&self, session: Uuid, agent: Option<&str>) -> String {
        self.store.place(session, agent)
    }

    fn document_place(&self, session: Uuid, name: &str) -> String {
        self.store.document_place(session, name)
    }

    async fn settings(&self, of: Destination) -> Result<Option<Vec<u8>>, StoreError> {
        self.store.settings(of).await
    }

    async fn replace_settings(
        &self,
        of: Destination,
        read: Option<&str>,
        settings: &[u8],
    ) -> Result<(), StoreError> {
        self.store.replace_settings(of, read, settings).await
    }

    fn settings_place(&self, of: Destination) -> Option<String> {
        self.store.settings_place(of)
    }
}

fn write(content: &str) -> Value {
    let input = json!({ "file_path": "note.txt", "content": content });
    calls(&[("Write", input)])
}

#[tokio::test]
async fn sess_3_files_go_back_to_what_they_were_when_a_prompt_came() {
    let model = Model::of(json!([
        write("one"),
        { "respond": "written" },
        write("two"),
        { "respond": "written again" },
    ]));
    let root = tempfile::tempdir().unwrap();
    let work = root.path().join("work");
    std::fs::create_dir(&work).unwrap();
    let agent = (model.agent().builtin_tools())
        .allowed_tools(["Write"])
        .cwd(&work)
        .config_dir(root.path().join("config"))
        .file_checkpoints(true)
        .build()
        .unwrap();
    let session = agent.session();
    let ids = [uuid_v4([1; 16]), uuid_v4([2; 16])];
    for id in ids {
        let prompt = Prompt::text("Write it down.").with_uuid(id);
        session.prompt(prompt).result().await.unwrap();
    }
    let note = work.join("note.txt");
    assert_eq!(std::fs::read_to_string(&note).unwrap(), "two");

    let preview = session.preview_rewind(ids[1]).await.unwrap();
    assert_eq!(preview.files_changed, [note.canonicalize().unwrap()]);
    assert_eq!(std::fs::read_to_string(&note).unwrap(), "two");
    session.rewind_files(ids[1]).await.unwrap();
    assert_eq!(std::fs::read_to_string(&note).unwrap(), "one");
    session.rewind_files(ids[0]).await.unwrap();
    assert!(
        !note.exists(),
        "it was not there when the first prompt came"
    );

    let unknown = session.rewind_files(uuid_v4([3; 16])).await;
    assert!(
        matches!(unknown, Err(RewindFilesError::Rewind(_))),
        "{unknown:?}"
    );
    let without = model.agent().build().unwrap().session();
    let refused = without.rewind_files(ids[0]).await;
    assert!(
        matches!(refused, Err(RewindFilesError::NotKept)),
        "{refused:?}"
    );
}

#[tokio::test]
async fn sess_3_any_store_keeps_what_files_held_for_whoever_goes_on() {
    let model = Model::of(json!([
        write("one"),
        { "respond": "written" },
        { "respond": "still here" },
    ]));
    let root = tempfile::tempdir().unwrap();
    let kept = MemoryStore::default();
    let agent = || {
        (model.agent().builtin_tools())
            .allowed_tools(["Write"])
            .cwd(root.path())
            .config_dir(root.path().join("config"))
            .store(kept.again())
            .file_checkpoints(true)
    };
    let session = agent().build().unwrap().session();
    let prompt = uuid_v4([1; 16]);
    let asked = Prompt::text("Write it down.").with_uuid(prompt);
    let result = session.prompt(asked).result().await.unwrap();
    session.close().await;

    let later = agent().resume(result.session_id.to_string());
    let later = later.build().unwrap().session();
    later.prompt("Hello?").result().await.unwrap();
    later.rewind_files(prompt).await.unwrap();
    assert!(!root.path().join("note.txt").exists());
    assert!(!root.path().join("config/file-history").exists());
}
