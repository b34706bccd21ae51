//! Which files there are, and what is in them.

use std::fs;

use serde_json::json;
use windlass_core::Uuid;

use super::{Talk, files, id, lines_of, raw, session, talk, writer};
use crate::transcript::AgentMeta;

#[test]
fn sess_1_nothing_is_created_before_the_first_line() {
    let root = tempfile::tempdir().unwrap();
    let mut writer = writer(root.path());
    assert_eq!(writer.note_last_prompt().unwrap(), []);
    assert!(!root.path().join("config").exists());
    let appended = writer.persist(&talk().entries[..1]).unwrap();
    assert_eq!(appended[0].path, writer.path());
    assert_eq!(appended[0].entries.len(), 1);
    let folder = root.path().join("config/projects");
    let folder = folder.join(crate::config_dir::project_key(&root.path().join("work")));
    assert_eq!(writer.path(), folder.join(format!("{}.jsonl", session())));
}

#[test]
fn sess_1_what_is_mirrored_is_what_stands_in_the_file() {
    let root = tempfile::tempdir().unwrap();
    let mut writer = writer(root.path());
    let mut mirrored = Vec::new();
    for entry in &talk().entries {
        mirrored.extend(writer.persist(std::slice::from_ref(entry)).unwrap());
    }
    mirrored.extend(writer.note_last_prompt().unwrap());
    writer.sync().unwrap();
    let mirrored: Vec<serde_json::Value> = (mirrored.iter().flat_map(|a| &a.entries))
        .map(|entry| entry.decode().unwrap())
        .collect();
    assert_eq!(mirrored, lines_of(writer.path()));
    assert_eq!(mirrored.len(), 10);
}

#[cfg(unix)]
#[test]
fn sess_1_transcripts_are_for_their_owners_eyes() {
    use std::os::unix::fs::PermissionsExt as _;
    let root = tempfile::tempdir().unwrap();
    let mut writer = writer(root.path());
    writer.persist(&talk().entries).unwrap();
    let mode = |path| fs::metadata(path).unwrap().permissions().mode() & 0o777;
    assert_eq!(mode(writer.path()), 0o600);
    assert_eq!(mode(writer.path().parent().unwrap()), 0o700);
}

#[test]
fn sess_1_a_subagent_has_a_transcript_of_its_own_and_says_whose_it_is() {
    let root = tempfile::tempdir().unwrap();
    let mut writer = writer(root.path());
    let mut both = talk();
    let mut child = Talk {
        next: 100,
        ..Talk::default()
    };
    child.says("look there").agent = Some("a/../1".into());
    child
        .answers("msg_c", json!([{"type": "text", "text": "seen"}]))
        .agent = Some("a/../1".into());
    both.entries.extend(child.entries);
    let appended = writer.persist(&both.entries).unwrap();
    assert_eq!(appended.len(), 2);
    let path = writer.agent_path("a/../1");
    assert!(path.ends_with(format!("{}/subagents/agent-a____1.jsonl", session())));
    let lines = lines_of(&path);
    assert_eq!(lines.len(), 2);
    assert!(
        lines
            .iter()
            .all(|line| line["isSidechain"] == true && line["agentId"] == "a/../1")
    );
    assert_eq!(lines[0]["parentUuid"], serde_json::Value::Null);
    assert!(
        lines_of(writer.path())
            .iter()
            .all(|line| line["isSidechain"] == false)
    );

    let meta = AgentMeta {
        agent_type: "Explore".into(),
        description: "look".into(),
        tool_use_id: Some("toolu_1".into()),
        parent_agent_id: None,
    };
    let mirrored = writer.describe_agent("a/../1", &meta).unwrap();
    assert_eq!(mirrored.path, path);
    let expected = json!({"agentType": "Explore", "description": "look", "toolUseId": "toolu_1"});
    let written = fs::read_to_string(path.with_extension("meta.json")).unwrap();
    assert_eq!(
        serde_json::from_str::<serde_json::Value>(&written).unwrap(),
        expected
    );
    assert!(
        mirrored.entries[0]
            .get()
            .starts_with(r#"{"type":"agent_metadata","#)
    );
}

#[test]
fn sess_1_the_newest_session_of_a_directory_is_found_and_others_are_not() {
    let root = tempfile::tempdir().unwrap();
    let sessions = files(root.path());
    assert_eq!(sessions.newest().unwrap(), None);
    fs::create_dir_all(sessions.folder()).unwrap();
    let line = json!({"type": "user", "uuid": id(1), "message": {"role": "user", "content": "x"}});
    let write = |name: String, text: String, age: u64| {
        let path = sessions.folder().join(name);
        fs::write(&path, text).unwrap();
        let at =
            std::time::SystemTime::UNIX_EPOCH + std::time::Duration::from_secs(2_000_000_000 - age);
        fs::File::options()
            .append(true)
            .open(path)
            .unwrap()
            .set_modified(at)
            .unwrap();
    };
    write(format!("{}.jsonl", id(1)), format!("{line}\n"), 100);
    write(format!("{}.jsonl", id(2)), format!("{line}\n"), 50);
    write(format!("{}.jsonl", id(3)), String::new(), 0);
    write("agent-17.jsonl".into(), format!("{line}\n"), 0);
    write(format!("{}.json", id(4)), format!("{line}\n"), 0);
    write(
        format!("{}.jsonl", id(5)),
        format!("{{\"isSidechain\":true}}\n{line}\n"),
        0,
    );
    assert_eq!(sessions.newest().unwrap().unwrap().id, id(2));
    let all: Vec<Uuid> = sessions.all().unwrap().iter().map(|s| s.id).collect();
    assert_eq!(all, [id(2), id(1)]);
}

#[test]
fn sess_1_a_session_is_found_by_its_id_wherever_it_ran() {
    let root = tempfile::tempdir().unwrap();
    let sessions = files(root.path());
    assert_eq!(sessions.find(session()).unwrap(), None);
    let elsewhere = root.path().join("config/projects/-elsewhere");
    fs::create_dir_all(&elsewhere).unwrap();
    let path = elsewhere.join(format!("{}.jsonl", session()));
    fs::write(&path, "{}\n").unwrap();
    assert_eq!(sessions.find(session()).unwrap(), Some(path));
    let mut writer = writer(root.path());
    writer.persist(&talk().entries).unwrap();
    let own = writer.path().to_path_buf();
    assert_eq!(sessions.find(session()).unwrap(), Some(own));
}

#[test]
fn sess_4_what_could_not_be_written_comes_with_the_next_lines() {
    let root = tempfile::tempdir().unwrap();
    let mut writer = writer(root.path());
    let talk = talk();
    // A file where the folder should be.
    fs::write(root.path().join("config"), "in the way").unwrap();
    let error = writer.persist(&talk.entries[..2]).unwrap_err();
    assert!(error.to_string().contains("creating"), "{error}");
    fs::remove_file(root.path().join("config")).unwrap();
    writer.persist(&talk.entries[2..]).unwrap();
    assert_eq!(lines_of(writer.path()).len(), 9);
}

#[test]
fn sess_2_lines_of_other_programs_stay() {
    let root = tempfile::tempdir().unwrap();
    let mut writer = writer(root.path());
    let talk = talk();
    writer.persist(&talk.entries[..2]).unwrap();
    use std::io::Write as _;
    let title = json!({"type": "custom-title", "customTitle": "T", "sessionId": session()});
    let mut other = fs::File::options()
        .append(true)
        .open(writer.path())
        .unwrap();
    writeln!(other, "{title}").unwrap();
    writer.persist(&talk.entries[2..]).unwrap();
    writer
        .append_line(raw(&json!({"type": "tag", "tag": "x"})))
        .unwrap();
    let lines = lines_of(writer.path());
    assert_eq!(lines.len(), 11);
    assert_eq!(lines[4], title);
}
