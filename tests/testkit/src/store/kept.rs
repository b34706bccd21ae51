//! What is kept, and how it is read again.

use windlass_core::{RawJson, SessionId, permission::Destination};
use windlass_engine::store::{Batch, Snapshot, Store as _, StoreError, digest};

use super::{Place, append, done, line, refused, same, session, text, text_line, text_of};

pub(super) async fn in_order(place: &impl Place) -> Result<(), String> {
    let store = place.store().await;
    let lease = done("create", store.create(session(1)).await)?;
    let lines: Vec<RawJson> = (0..60).map(line).collect();
    // Appended in batches of different sizes, one of which is empty.
    let mut rest = lines.as_slice();
    for length in [1, 2, 0, 7, 50] {
        let (now, behind) = rest.split_at(length);
        append(&store, &lease, now).await?;
        rest = behind;
    }
    same(
        "the lines",
        text(&store, session(1)).await?,
        text_of(&lines),
    )
}

pub(super) async fn at_once(place: &impl Place) -> Result<(), String> {
    let (writer, reader) = (place.store().await, place.store().await);
    let lease = done("create", writer.create(session(1)).await)?;
    for n in 1..4 {
        append(&writer, &lease, &[line(n)]).await?;
        let lines: Vec<RawJson> = (1..=n).map(line).collect();
        same(
            "the lines",
            text(&reader, session(1)).await?,
            text_of(&lines),
        )?;
    }
    Ok(())
}

pub(super) async fn nothing_before_the_first_line(place: &impl Place) -> Result<(), String> {
    let store = place.store().await;
    let lease = done("create", store.create(session(1)).await)?;
    // An empty append, as before a hook is told the transcript's place.
    append(&store, &lease, &[]).await?;
    same(
        "load",
        done("load", store.load(session(1), None).await)?,
        None,
    )?;
    same("list", done("list", store.list().await)?.len(), 0)?;
    store.release(&lease);
    let other = place.store().await;
    let lease = done("create again", other.create(session(1)).await)?;
    append(&other, &lease, &[line(1)]).await?;
    same("list", done("list", store.list().await)?.len(), 1)
}

pub(super) async fn by_agent(place: &impl Place) -> Result<(), String> {
    let store = place.store().await;
    let lease = done("create", store.create(session(1)).await)?;
    for (agent, n) in [(None, 1), (Some("a"), 2), (Some("b"), 3), (Some("a"), 4)] {
        let lines = [line(n)];
        let batch = Batch {
            agent,
            lines: &lines,
            snapshot: None,
        };
        done("append", store.append(&lease, batch).await)?;
    }
    for (agent, numbers) in [
        (None, vec![1]),
        (Some("a"), vec![2, 4]),
        (Some("b"), vec![3]),
    ] {
        let stored = done("load", store.load(session(1), agent).await)?;
        let lines: Vec<RawJson> = numbers.into_iter().map(line).collect();
        let what = agent.unwrap_or("the session");
        same(what, stored.unwrap_or_default().text, text_of(&lines))?;
    }
    let unknown = done("load", store.load(session(1), Some("c")).await)?;
    same("an agent that said nothing", unknown, None)?;
    same("list", done("list", store.list().await)?.len(), 1)
}

pub(super) async fn as_they_are(place: &impl Place) -> Result<(), String> {
    let store = place.store().await;
    let lease = done("create", store.create(session(1)).await)?;
    let lines = [
        text_line(&"long ".repeat(1 << 18)),
        text_line("\u{0}\u{1}\n\r\u{2028}\u{feff}\u{10ffff} é 😀 \" \\ '' %s ${x}"),
        RawJson::parse(r#"{"number":1.50e+3,"large":123456789012345678901234567890}"#)
            .map_err(|error| error.to_string())?,
        line(1),
    ];
    append(&store, &lease, &lines).await?;
    let found = text(&store, session(1)).await?;
    same("the lines are the same", found == text_of(&lines), true)
}

pub(super) async fn snapshots(place: &impl Place) -> Result<(), String> {
    let store = place.store().await;
    let lease = done("create", store.create(session(1)).await)?;
    let snapshot = |bytes: &[u8], is_current| {
        Some(Snapshot {
            bytes: bytes.to_vec(),
            is_current,
        })
    };
    let bytes = b"\x00not text\n\xff".as_slice();
    for (n, given, expected) in [
        (1, None, None),
        (2, Some(bytes), snapshot(bytes, true)),
        (3, None, snapshot(bytes, false)),
        (4, Some(b"".as_slice()), snapshot(b"", true)),
    ] {
        let lines = [line(n)];
        let batch = Batch {
            agent: None,
            lines: &lines,
            snapshot: given,
        };
        done("append", store.append(&lease, batch).await)?;
        let stored = done("load", place.store().await.load(session(1), None).await)?;
        let what = format!("the snapshot after line {n}");
        same(&what, stored.unwrap_or_default().snapshot, expected)?;
    }
    Ok(())
}

pub(super) async fn documents(place: &impl Place) -> Result<(), String> {
    let store = place.store().await;
    let lease = done("create", store.create(session(1)).await)?;
    append(&store, &lease, &[line(1)]).await?;
    for (name, document) in [("a", "one"), ("b/a.json", "two"), ("a", "three")] {
        done("put", store.put(&lease, name, document.as_bytes()).await)?;
    }
    let reader = place.store().await;
    for (name, expected) in [("a", Some("three")), ("b/a.json", Some("two")), ("c", None)] {
        let found = done("get", reader.get(session(1), name).await)?;
        same(name, found, expected.map(|text| text.as_bytes().to_vec()))?;
    }
    let of_another = done("get", reader.get(session(2), "a").await)?;
    same("the document of another session", of_another, None)
}

pub(super) async fn growing(place: &impl Place) -> Result<(), String> {
    let store = place.store().await;
    let lease = done("create", store.create(session(1)).await)?;
    append(&store, &lease, &[line(1)]).await?;
    let reader = place.store().await;
    let mut expected = Vec::new();
    for bytes in [b"one\n".as_slice(), b"", b"\x00\xff", b"two"] {
        done("extend", store.extend(&lease, "tasks/a", bytes).await)?;
        expected.extend_from_slice(bytes);
        let found = done("get", reader.get(session(1), "tasks/a").await)?;
        same("what has been added", found, Some(expected.clone()))?;
    }
    done("put", store.put(&lease, "tasks/a", b"anew ").await)?;
    done("extend", store.extend(&lease, "tasks/a", b"more").await)?;
    let found = done("get", reader.get(session(1), "tasks/a").await)?;
    same("what was put and added", found, Some(b"anew more".to_vec()))
}

pub(super) async fn settings(place: &impl Place) -> Result<(), String> {
    let (one, other) = (place.store().await, place.store().await);
    for of in [Destination::Session, Destination::CliArg] {
        same(
            "the place of what is not kept",
            one.settings_place(of),
            None,
        )?;
    }
    let kept = [
        Destination::UserSettings,
        Destination::ProjectSettings,
        Destination::LocalSettings,
    ];
    let kept = kept
        .into_iter()
        .filter(|of| one.settings_place(*of).is_some());
    for (n, of) in kept.enumerate() {
        let (first, second) = (format!("{{\"n\":{n}}}"), format!("{{\"m\":{n}}}"));
        same(
            "settings that there are not",
            done("settings", one.settings(of).await)?,
            None,
        )?;
        let written = one.replace_settings(of, None, first.as_bytes()).await;
        done("replace", written)?;
        let found = done("settings", other.settings(of).await)?;
        same("what was written", found, Some(first.clone().into_bytes()))?;
        for read in [None, Some(digest(b"something else"))] {
            let written = other.replace_settings(of, read.as_deref(), b"{}").await;
            refused("replace what was not read", written, |error| {
                matches!(error, StoreError::Changed(_))
            })?;
        }
        let read = digest(first.as_bytes());
        let written = other
            .replace_settings(of, Some(&read), second.as_bytes())
            .await;
        done("replace", written)?;
        let found = done("settings", one.settings(of).await)?;
        same("what was written then", found, Some(second.into_bytes()))?;
    }
    Ok(())
}

pub(super) async fn names(place: &impl Place) -> Result<(), String> {
    let store = place.store().await;
    let lease = done("create", store.create(session(1)).await)?;
    append(&store, &lease, &[line(1)]).await?;
    for name in ["", "..", "../a", "a/../../b", "/a", "a//b", "a b", "a\0"] {
        let put = store.put(&lease, name, b"x").await;
        let extended = store.extend(&lease, name, b"x").await;
        for (step, done) in [("put", put), ("extend", extended)] {
            let step = format!("{step} {name:?}");
            refused(&step, done, |error| matches!(error, StoreError::Name(_)))?;
        }
    }
    Ok(())
}

pub(super) async fn listed(place: &impl Place) -> Result<(), String> {
    let store = place.store().await;
    let mut leases = Vec::new();
    for n in 1..4 {
        let lease = done("create", store.create(session(n)).await)?;
        append(&store, &lease, &[line(1)]).await?;
        place.pause().await;
        leases.push(lease);
    }
    append(&store, &leases[0], &[line(2)]).await?;
    let list = done("list", store.list().await)?;
    let found: Vec<SessionId> = list.iter().map(|listed| listed.id).collect();
    same("the list", found, [1, 3, 2].map(session).to_vec())
}

pub(super) async fn titles_and_forks(place: &impl Place) -> Result<(), String> {
    let store = place.store().await;
    let lease = done("create", store.create(session(1)).await)?;
    let title = RawJson::parse(r#"{"type":"custom-title","customTitle":"T"}"#);
    let tag = RawJson::parse(r#"{"type":"tag","tag":"x"}"#);
    let (Ok(title), Ok(tag)) = (title, tag) else {
        return Err("lines that are JSON".to_owned());
    };
    let lines = [line(1), title, tag];
    append(&store, &lease, &lines).await?;
    // A fork begins, with lines of its origin, while the origin has a writer.
    let fork = done("create", store.create(session(2)).await)?;
    append(&store, &fork, &lines[..1]).await?;
    append(&store, &fork, &[line(2)]).await?;
    same(
        "the origin",
        text(&store, session(1)).await?,
        text_of(&lines),
    )?;
    let expected = text_of(&[line(1), line(2)]);
    same("the fork", text(&store, session(2)).await?, expected)
}

pub(super) async fn deleted(place: &impl Place) -> Result<(), String> {
    let store = place.store().await;
    let unknown = store.delete(session(1)).await;
    let is_unknown = |error: &StoreError| matches!(error, StoreError::Unknown(_));
    refused("delete of nothing", unknown, is_unknown)?;
    for n in [1, 2] {
        let lease = done("create", store.create(session(n)).await)?;
        let lines = [line(1)];
        for agent in [None, Some("a")] {
            let batch = Batch {
                agent,
                lines: &lines,
                snapshot: Some(b"s"),
            };
            done("append", store.append(&lease, batch).await)?;
        }
        done("put", store.put(&lease, "a", b"x").await)?;
        store.release(&lease);
    }
    done("delete", store.delete(session(1)).await)?;
    for agent in [None, Some("a")] {
        let found = done("load", store.load(session(1), agent).await)?;
        same("the deleted transcript", found, None)?;
    }
    let found = done("get", store.get(session(1), "a").await)?;
    same("the deleted document", found, None)?;
    let lease = done("create", store.create(session(1)).await)?;
    append(&store, &lease, &[line(9)]).await?;
    same(
        "what begins anew",
        text(&store, session(1)).await?,
        text_of(&[line(9)]),
    )?;
    let stored = done("load", store.load(session(1), None).await)?;
    let snapshot = stored.and_then(|stored| stored.snapshot);
    same("its snapshot", snapshot, None)?;
    same(
        "the other one",
        text(&store, session(2)).await?,
        text_of(&[line(1)]),
    )
}
