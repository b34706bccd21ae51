//! Python, which opens files by WASI.

use serde_json::{Value, json};
use windlass::core::tool::{Access, PluginGrant};

use crate::support::{Ground, logged, model, plugin};

const CSV: (&str, &str) = ("csv-python", "QueryCsv");
const MISBEHAVES: (&str, &str) = ("misbehaves-python", "Misbehave");

#[tokio::test]
async fn card_5_a_plugin_in_python_opens_the_granted_files_and_no_others() {
    let ground = Ground::new(&[("sales.csv", "city,amount\nRome,1.5\nOslo,2\nRome,3\n")]);
    let same = |agent| agent;
    let query = |path: &str, group: Option<&str>| json!({"file_path": path, "column": "amount", "operation": "sum", "group_by": group});
    let by_city = query("sales.csv", Some("city"));
    let answer = ("Oslo: 2\nRome: 4.5", false);
    ground.call(CSV, by_city, answer, same).await;
    let absolute = ground.path("work/sales.csv").display().to_string();
    let all = query(&absolute, None);
    ground.call(CSV, all, ("6.5", false), same).await;
    let none = query("none.csv", None);
    let missing = ("none.csv does not exist", true);
    ground.call(CSV, none, missing, same).await;
    let unknown = query("sales.csv", Some("country"));
    let refused = ("There is no column country", true);
    ground.call(CSV, unknown, refused, same).await;
    // The schema is made of the annotations.
    let wrong = json!({"file_path": "sales.csv", "column": "amount", "operation": "median"});
    ground.call(CSV, wrong, ("operation", true), same).await;
}

/// The table is kept in memory from call to call, and read again when its file is another.
#[tokio::test]
async fn card_5_a_plugin_in_python_keeps_what_it_has_read_until_that_changes() {
    let ground = Ground::new(&[("sales.csv", "city,amount\nRome,1.5\n")]);
    let input = json!({"file_path": "sales.csv", "column": "amount", "operation": "sum"});
    let asks =
        json!({"content": [{"type": "tool_use", "name": "QueryCsv", "input": input.clone()}]});
    let hears = |text: &str| json!({"tool_results": [{"contains": text, "is_error": false}]});
    let model = model(&[
        json!({ "respond": asks.clone() }),
        json!({ "expect": hears("1.5"), "respond": "done" }),
        json!({ "respond": asks }),
        json!({ "expect": hears("42"), "respond": "done" }),
    ]);
    let agent = ground.agent(&model).plugin(plugin(CSV.0));
    let session = agent.allowed_tools([CSV.1]).build().unwrap().session();
    session.prompt("How much?").result().await.unwrap();
    let changed = "city,amount\nRome,2\nOslo,40\n";
    std::fs::write(ground.path("work/sales.csv"), changed).unwrap();
    session.prompt("And now?").result().await.unwrap();
    model.verify().unwrap();
}

/// What Python's own functions do in a writable directory, in one that may be read only, and outside of both.
#[tokio::test]
async fn card_5_pythons_own_functions_reach_what_was_granted_as_it_was_granted() {
    let ground = Ground::new(&[("note.txt", "a note"), ("own.txt", "mine")]);
    std::fs::create_dir(ground.path("data")).unwrap();
    std::fs::write(ground.path("data/read.txt"), "data").unwrap();
    let (data, work) = (ground.path("data"), ground.path("work"));
    std::os::unix::fs::symlink("nowhere", work.join("gone")).unwrap();
    std::os::unix::fs::symlink(ground.path("outside/secret.txt"), work.join("out")).unwrap();
    let grant =
        PluginGrant::workspace(Access::Write).directory(data.display().to_string(), Access::Read);
    let granted =
        |agent: windlass::AgentBuilder| agent.plugin_granted(plugin(MISBEHAVES.0), grant.clone());
    let writes = |how: &str, path: &str| json!({"how": how, "path": path, "writes": "."});
    let reads = |how: &str, path: &str| json!({"how": how, "path": data.join(path), "reads": data.join("read.txt")});
    let outside = ground.path("outside/secret.txt");
    let calls: Vec<(Value, (&str, bool))> = vec![
        (writes("read", "note.txt"), ("a note", false)),
        (writes("append", "note.txt"), ("a note and more", false)),
        (writes("save", "note.txt"), ("saved", false)),
        (writes("truncate", "own.txt"), ("cut", false)),
        // A link that leads nowhere, or out, is a name like others there.
        (
            writes("list", "."),
            ("./gone\n./note.txt\n./out\n./own.txt", false),
        ),
        (writes("remove", "own.txt"), ("removed", false)),
        (reads("read", "read.txt"), ("data", false)),
        (reads("write", "read.txt"), ("Read-only", true)),
        (reads("append", "read.txt"), ("Read-only", true)),
        (reads("truncate", "read.txt"), ("Read-only", true)),
        (reads("save", "read.txt"), ("Read-only", true)),
        (reads("remove", "read.txt"), ("Read-only", true)),
        (
            reads("read", "../outside/secret.txt"),
            ("does not exist", true),
        ),
        (
            writes("write", "../outside/secret.txt"),
            ("does not exist", true),
        ),
        (writes("read", "/etc/passwd"), ("does not exist", true)),
        (writes("link", "link.txt"), ("not permitted", true)),
    ];
    ground.calls(MISBEHAVES.1, calls, granted).await;
    assert_eq!(
        std::fs::read_to_string(work.join("note.txt")).unwrap(),
        "saved"
    );
    assert_eq!(
        std::fs::read_to_string(data.join("read.txt")).unwrap(),
        "data"
    );
    assert_eq!(std::fs::read_to_string(outside).unwrap(), "the secret");
}

#[tokio::test]
async fn card_5_a_plugin_in_python_that_does_not_behave_is_ended() {
    let ground = Ground::new(&[]);
    let calls = [
        ("loop", ("out of time", true)),
        ("grow", ("MemoryError", true)),
        ("flood", ("the limit is 65536", true)),
        ("exit", ("exit", true)),
        ("socket", ("Error", true)),
        ("system", ("{} 0.0 True", false)),
        ("log", ("logged", false)),
    ];
    let calls = calls.map(|(how, expected)| (json!({ "how": how }), expected));
    let (host, log) = logged();
    let with = |agent: windlass::AgentBuilder| {
        agent.plugin_host(host.clone()).plugin(plugin(MISBEHAVES.0))
    };
    ground.calls(MISBEHAVES.1, calls.into(), with).await;
    let bytes = log.lock().unwrap().iter().map(String::len).sum::<usize>();
    assert!(
        (50_000..=7 * (64 << 10)).contains(&bytes),
        "{bytes} bytes of log"
    );
}
