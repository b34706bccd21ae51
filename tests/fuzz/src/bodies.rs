//! The functions: each feeds one reader and checks what holds for every input.

use std::sync::Arc;

use windlass_core::{
    Input, Now, RawJson, Session, Spec,
    agent::{AgentSource, parse_agent_file},
    content::Block,
    hook::{HookEvent, HookOutput},
    pattern::Pattern,
    permission::Rule,
    provider::{Provider as _, messages::MessagesApi},
    shell,
    sse::SseParser,
    testkit::{Journal, validate_request},
};

/// Server-sent events, and the decoder above them: where the bytes are cut makes no difference.
pub(super) fn sse(bytes: &[u8]) {
    let events = |pieces: &mut dyn Iterator<Item = &[u8]>| {
        let mut parser = SseParser::new(1 << 16);
        let mut events: Vec<Vec<u8>> = Vec::new();
        let mut failed = false;
        for piece in pieces {
            failed |= parser
                .feed(piece, |data| events.push(data.to_vec()))
                .is_err();
        }
        (events, failed)
    };
    let whole = events(&mut std::iter::once(bytes));
    assert_eq!(whole, events(&mut bytes.chunks(1)), "byte by byte");
    assert_eq!(whole, events(&mut bytes.chunks(7)), "in sevens");

    let response = |size: usize| {
        let mut decoder = MessagesApi.decoder("text/event-stream", true);
        for piece in bytes.chunks(size) {
            decoder.feed(piece)?;
        }
        decoder.finish()
    };
    let (whole, cut) = (response(bytes.len().max(1)), response(1));
    assert_eq!(whole.is_ok(), cut.is_ok(), "{whole:?}\n{cut:?}");
    if let (Ok(whole), Ok(cut)) = (whole, cut) {
        assert_eq!(whole, cut);
    }
}

/// Content blocks, plain responses and request bodies.
pub(super) fn json_blocks(bytes: &[u8]) {
    let text = String::from_utf8_lossy(bytes);
    if let Ok(raw) = RawJson::parse(text.as_ref()) {
        let block = Block::from_raw(raw);
        // What is written is read as the same.
        let written = block.to_raw();
        assert_eq!(Block::from_raw(written.clone()).to_raw(), written);
        assert!(!written.get().contains('\n'));
    }
    let mut decoder = MessagesApi.decoder("application/json", false);
    let _ = decoder.feed(bytes).and_then(|()| decoder.finish());
    let _ = validate_request(bytes);
    let _ = MessagesApi.error(500, bytes);
}

/// Permission rules: what is a rule reads back as itself.
pub(super) fn rules(bytes: &[u8]) {
    let text = String::from_utf8_lossy(bytes);
    for line in text.lines() {
        if let Ok(rule) = Rule::parse(line) {
            let written = rule.to_string();
            let again = Rule::parse(&written);
            assert_eq!(again.map(|rule| rule.to_string()), Ok(written), "{line}");
        }
    }
}

/// Shell lines: parsed or refused, and a program that was found stands in the line.
pub(super) fn shell(bytes: &[u8]) {
    let text = String::from_utf8_lossy(bytes);
    if let Ok(commands) = shell::commands(&text) {
        for command in commands {
            let _ = command.program();
        }
    }
}

/// What hooks answer, for every event.
pub(super) fn hook_outputs(bytes: &[u8]) {
    let Ok(json) = RawJson::parse(String::from_utf8_lossy(bytes).as_ref()) else {
        return;
    };
    for event in HookEvent::ALL {
        if let Ok(output) = HookOutput::parse(&json, event) {
            let again = HookOutput::parse(&output.to_json(), event);
            assert_eq!(
                again.as_ref(),
                Ok(&output),
                "{event:?}: {}",
                output.to_json()
            );
        }
    }
}

/// Snapshots: a session or a typed error; a session goes on.
pub(super) fn snapshots(bytes: &[u8]) {
    let spec = Arc::new(Spec::default());
    let Ok(mut session) = Session::restore(spec.clone(), bytes) else {
        return;
    };
    if let Ok(snapshot) = session.snapshot() {
        let again = Session::restore(spec, &snapshot);
        let again = again.expect("what was just written is read");
        assert_eq!(again.snapshot().ok(), Some(snapshot));
    }
    let _ = session.handle(Now::default(), Input::Resumed { live: vec![] });
    while session.poll().is_some() {}
    let _ = session.handle(Now::default(), Input::Interrupt);
    let _ = session.handle(Now::default(), Input::Tick);
    while session.poll().is_some() {}
}

/// Journals: read and replayed, or a typed error.
pub(super) fn journals(bytes: &[u8]) {
    if let Ok(journal) = Journal::parse(&String::from_utf8_lossy(bytes)) {
        let _ = journal.replay();
    }
}

/// Agent files.
pub(super) fn agents(bytes: &[u8]) {
    let text = String::from_utf8_lossy(bytes);
    let _ = parse_agent_file("agent.md", &text, AgentSource::Project);
}

/// Patterns: the first line is the pattern, the rest the text.
pub(super) fn patterns(bytes: &[u8]) {
    let text = String::from_utf8_lossy(bytes);
    let (source, text) = text.split_once('\n').unwrap_or((&text, ""));
    if let Ok(pattern) = Pattern::new(source)
        && pattern.is_full_match(text)
    {
        assert!(
            pattern.is_match(text),
            "{source} matches all of {text:?}, but nothing in it"
        );
    }
}
