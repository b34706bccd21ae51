//! The functions: each feeds one reader and checks what holds for every input.

use std::{collections::BTreeMap, sync::Arc};

use serde::de::DeserializeOwned;
use serde_json::Value;
use windlass_core::{
    Input, Now, Prompt, RawJson, Session, Spec,
    agent::AgentSource,
    content::Block,
    hook::{
        BlockDecision, HookAnswer, HookEvent, HookKind, HookOutput, InterpretedAnswer, Judgement,
        Matcher, PermissionDecision, RequestDecision, SpecificOutput,
    },
    journal::Journal,
    json::RawObject,
    pattern::Pattern,
    permission::{
        Behavior, CallSubject, CommandLine, Destination, Layered, Mode, PathFact, PermissionUpdate,
        PolicyContext, Rule, RuleChange, Rules, Source, Verdict, judge,
    },
    provider::{Provider, messages::MessagesApi, openai::ChatCompletions},
    schema::Schema,
    shell,
    spec::Environment,
    sse::SseParser,
    tool::{ToolDefinition, ToolResult},
    transcript::Transcript,
};
use windlass_engine::{
    TextPath,
    frontmatter::Document,
    project::{Command, Entry, EntryKind, ProjectPlaces, ReadFile, ReadProject, parse_agent_file},
    protocol::{
        inbound::Inbound,
        line::{Line, LineReader},
    },
    settings::{
        LoadedSettings, SettingSource, SettingSources, SourcedSettings, change_permissions, changed,
    },
};
use windlass_scripted_model::{validate_chat_request, validate_request};

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

    let providers: [&dyn Provider; 2] = [&MessagesApi, &ChatCompletions::default()];
    for provider in providers {
        for content_type in ["text/event-stream", "application/json"] {
            let response = |size: usize| {
                let mut decoder = provider.decoder(content_type, true);
                let mut events = Vec::new();
                for piece in bytes.chunks(size) {
                    decoder.feed(piece)?;
                    events.extend(decoder.take_events());
                }
                decoder.finish().map(|response| (response, events))
            };
            let whole = response(bytes.len().max(1));
            for size in [1, 7] {
                let cut = response(size);
                assert_eq!(
                    whole.is_ok(),
                    cut.is_ok(),
                    "{provider:?}: {whole:?}\n{cut:?}"
                );
                if let (Ok(whole), Ok(cut)) = (&whole, cut) {
                    assert_eq!(*whole, cut, "{provider:?} {content_type} in {size}s");
                }
            }
        }
    }
}

/// JSON as text, held against another reader of it: the same texts are JSON, and mean the same.
pub(super) fn json(bytes: &[u8]) {
    fn held<T: DeserializeOwned + PartialEq + std::fmt::Debug>(text: &str) {
        let ours = RawJson::parse(text).and_then(|raw| raw.decode::<T>()).ok();
        let theirs = serde_json::from_str::<T>(text).ok();
        assert_eq!(ours, theirs, "as {}", std::any::type_name::<T>());
    }
    let text = String::from_utf8_lossy(bytes);
    let theirs = serde_json::from_str::<&serde_json::value::RawValue>(&text);
    let ours = RawJson::parse(text.as_ref());
    assert_eq!(ours.is_ok(), theirs.is_ok(), "{ours:?}\n{theirs:?}");
    held::<Value>(&text);
    held::<BTreeMap<String, Value>>(&text);
    held::<Vec<Option<bool>>>(&text);
    held::<(Option<i64>, u8)>(&text);
    held::<f64>(&text);
    held::<String>(&text);
    // A text in between is read as it stands.
    held::<Value>(&format!("[{text}]"));
    held::<BTreeMap<String, i32>>(&format!("{{\"a\":{text}}}"));
    let Ok(ours) = ours else {
        return;
    };
    // What is written is read as the same, and on one line.
    let value: Option<Value> = ours.decode().ok();
    if let Some(value) = value {
        let written = RawJson::encode(&value).expect("a value is JSON");
        assert_eq!(written.get(), value.to_string());
        assert_eq!(written.decode().ok(), Some(value));
    }
    assert!(!ours.get().contains(['\n', '\r']));
    let Ok(object) = RawObject::parse(ours.get()) else {
        assert!(!ours.is_object());
        return;
    };
    let again = RawObject::parse(object.to_raw().get()).expect("an object is one again");
    assert!(again.fields().eq(object.fields()), "{}", object.to_raw());
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
    let _ = validate_request(bytes);
    let _ = validate_chat_request(bytes);
    let providers: [&dyn Provider; 2] = [&MessagesApi, &ChatCompletions::default()];
    for provider in providers {
        let mut decoder = provider.decoder("application/json", false);
        let response = decoder.feed(bytes).and_then(|()| decoder.finish());
        // What is kept of a response reads back as itself.
        for block in response.into_iter().flat_map(|response| response.content) {
            let written = block.to_raw();
            assert_eq!(Block::from_raw(written.clone()).to_raw(), written);
        }
        for status in [400, 429, 500] {
            assert!(!provider.error(status, bytes).message.is_empty());
        }
    }
}

/// Permission rules: what is a rule reads back as itself.
pub(super) fn rules(bytes: &[u8]) {
    let text = String::from_utf8_lossy(bytes);
    for line in text.lines() {
        if let Ok(rule) = Rule::parse(line) {
            let written = rule.to_string();
            assert_eq!(Rule::parse(&written).as_ref(), Ok(&rule), "{line}");
            let value = rule.value().to_rule();
            assert_eq!(value.map(|rule| rule.value()), Ok(rule.value()), "{line}");
        }
    }
}

/// The longest shell line.
const LONGEST_LINE: usize = 128 << 10;

/// Shell lines: parsed or refused, wherever they stand. No line hides the command before it, nor is hidden by it; and who
/// puts a line into a subshell starts the same programs.
pub(super) fn shell(bytes: &[u8]) {
    let text = String::from_utf8_lossy(bytes);
    if let Ok(line) = shell::read(&text) {
        // Whatever was read can be printed, and is read by itself.
        assert!(!shell::print(&line.script, &|_| None).contains('\0'));
    }
    judged(&text);
    let commands = shell::scan(&text);
    if text.len() + 16 > LONGEST_LINE {
        return; // what is put around it below may be too much
    }
    let before = shell::scan(&format!("rm x\n{text}"));
    assert_eq!(commands.is_ok(), before.is_ok(), "{commands:?}\n{before:?}");
    let (Ok(commands), Ok(before)) = (commands, before) else {
        return;
    };
    let (removes, rest) = before.split_first().expect("a command was put before it");
    assert_eq!(removes.program(), Some("rm"));
    assert_eq!(rest, commands, "behind another command");
    if let Ok(inside) = shell::scan(&format!("(\n{text}\n)")) {
        assert_eq!(inside, commands, "in a subshell");
    }
    for command in &commands {
        // A name without its folder.
        assert!(!command.program().is_some_and(|name| name.contains('/')));
    }
}

/// A line as it is judged by the rules that people have: what runs while files are closed runs without that, too.
fn judged(line: &str) {
    let parsed = |rules: &[&str]| -> Vec<Rule> {
        let rules = rules.iter().map(|rule| Rule::parse(rule));
        rules.collect::<Result<_, _>>().expect("plain rules")
    };
    let environment = Environment {
        cwd: "/work".to_owned(),
        home: Some("/home/me".to_owned()),
        ..Environment::default()
    };
    let mut tool = ToolDefinition::new("Bash", "", RawJson::empty_object());
    tool.command_param = Some("command".to_owned());
    let subject = CallSubject {
        command: Some(CommandLine::read(line, "/work")),
        ..CallSubject::default()
    };
    let files = subject.command.iter().flat_map(CommandLine::paths);
    let files: Vec<PathFact> = files
        .map(|asked| PathFact {
            path: asked.path.clone(),
            access: asked.access,
            written: asked.path,
        })
        .collect();
    let allow = parsed(&["Bash(a:*)", "Bash(cat:*)", "Bash(sort:*)"]);
    let deny = parsed(&[
        "Read(.env)",
        "Read(secrets/**)",
        "Read(*.{pem,key})",
        "Read(src/*/[a-c]*.txt)",
        "Edit(package-lock.json)",
        "Bash(git push:*)",
    ]);
    let verdict = |deny: Vec<Rule>| {
        let rules = Rules {
            allow: allow.clone(),
            deny,
            ..Rules::default()
        };
        let policy = PolicyContext::new(&rules, Mode::AcceptEdits, &environment);
        judge(&policy, subject.facts(&tool, &files), None).verdict
    };
    if verdict(deny) == Verdict::Allow {
        assert_eq!(verdict(Vec::new()), Verdict::Allow, "{line}");
    }
}

/// What hooks answer, for every event and either kind, as JSON and as what a program writes.
pub(super) fn hook_outputs(bytes: &[u8]) {
    let text = String::from_utf8_lossy(bytes);
    let said = |code| HookAnswer::Exited {
        code,
        stdout: text.to_string(),
        stderr: text.to_string(),
    };
    let matcher = Matcher::parse(&text);
    if let Ok(matcher) = &matcher {
        assert_eq!(Matcher::parse(&matcher.to_string()).as_ref(), Ok(matcher));
    }
    let json = RawJson::parse(text.as_ref());
    for event in HookEvent::ALL {
        for code in [Some(0), Some(1), Some(2), None] {
            let trusted = said(code).interpret(event, HookKind::Trusted);
            assert!(
                !matches!(trusted, InterpretedAnswer::Narrowing(_)),
                "{trusted:?}"
            );
            let narrowing = said(code).interpret(event, HookKind::Narrowing);
            assert!(
                !matches!(narrowing, InterpretedAnswer::Trusted(_)),
                "{narrowing:?}"
            );
            // Only the code that refuses does without a readable answer.
            if code == Some(2) {
                let denies = matches!(
                    narrowing,
                    InterpretedAnswer::Narrowing(Judgement::Deny { .. })
                );
                assert!(denies, "{narrowing:?}");
            }
        }
        if let Ok(json) = &json {
            hook_output(json, event);
        }
    }
}

/// The same for a value.
fn hook_output(json: &RawJson, event: HookEvent) {
    let output = HookOutput::parse(json, event);
    if let Ok(output) = &output {
        let again = HookOutput::parse(&output.to_json(), event);
        assert_eq!(
            again.as_ref(),
            Ok(output),
            "{event:?}: {}",
            output.to_json()
        );
    }
    let judgement = Judgement::parse(json, event);
    let Ok(judgement) = judgement else {
        return;
    };
    let written = RawJson::encode(&judgement).expect("a judgement is JSON");
    let again = Judgement::parse(&written, event);
    assert_eq!(again.as_ref(), Ok(&judgement), "{event:?}: {written}");
    // Whoever only narrows has not allowed anything, nor changed what runs, nor ended the run.
    if let Ok(HookOutput::Done(output)) = output {
        assert_ne!(output.decision, Some(BlockDecision::Approve));
        assert_ne!(output.goes_on, Some(false));
        match output.specific {
            Some(SpecificOutput::PreToolUse {
                permission_decision,
                updated_input,
                ..
            }) => {
                assert_ne!(permission_decision, Some(PermissionDecision::Allow));
                assert_eq!(updated_input, None);
            }
            Some(SpecificOutput::PermissionRequest { decision }) => {
                assert!(!matches!(decision, RequestDecision::Allow { .. }));
            }
            _ => {}
        }
    }
}

/// Snapshots: a session or a typed error; a session goes on, and can be put away wherever it is.
pub(super) fn snapshots(bytes: &[u8]) {
    let spec = Arc::new(Spec::default());
    let Ok(mut session) = Session::restore(spec.clone(), bytes) else {
        return;
    };
    let put_away = |session: &Session| {
        let snapshot = session.snapshot().expect("nothing waits to be polled");
        let again = Session::restore(spec.clone(), &snapshot);
        let again = again.expect("what was just written is read");
        assert_eq!(again.snapshot(), Ok(snapshot));
    };
    put_away(&session);
    let inputs = [
        Input::Resumed { live: vec![] },
        Input::Prompt(Prompt::text("Go on.")),
        Input::Interrupt,
        Input::Tick,
    ];
    for input in inputs {
        let taken = session.handle(Now::default(), input);
        taken.expect("that may be said at any time");
        while session.poll().is_some() {}
        put_away(&session);
    }
}

/// Journals: read and replayed, the same each time, or a typed error.
pub(super) fn journals(bytes: &[u8]) {
    if let Ok(journal) = Journal::parse(&String::from_utf8_lossy(bytes)) {
        let replayed = || journal.replay().map(|run| (run.inputs, run.outputs));
        assert_eq!(replayed(), replayed());
    }
}

/// Agent files.
pub(super) fn agents(bytes: &[u8]) {
    let text = String::from_utf8_lossy(bytes);
    let read = |text: &str| parse_agent_file("agent.md", text, AgentSource::Project);
    if let Ok(agent) = read(&text) {
        // An agent can be chosen, and has something to go by.
        assert!(!agent.name.is_empty() && !agent.definition.description.is_empty());
        // Line ends are a matter of taste.
        let windows = text.replace("\r\n", "\n").replace('\n', "\r\n");
        assert_eq!(read(&windows).map(|agent| agent.name), Ok(agent.name));
    }
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

/// Schemas: the first line is the schema, the rest the value.
pub(super) fn schemas(bytes: &[u8]) {
    let text = String::from_utf8_lossy(bytes);
    let (schema, value) = text.split_once('\n').unwrap_or((&text, "{}"));
    let Ok(schema) = Schema::read(schema) else {
        return;
    };
    if let Err(faults) = schema.validate(value) {
        assert!(!faults.to_string().is_empty());
    }
}

/// The heads of Markdown files, and what agents, commands and skills make of them.
pub(super) fn frontmatter(bytes: &[u8]) {
    let text = String::from_utf8_lossy(bytes);
    if let Ok(document) = Document::parse(&text) {
        assert!(text.ends_with(document.body));
        if let Some(fields) = document.front {
            // What was read can be handed on.
            assert!(fields.to_json().is_object());
            for field in fields.fields() {
                let _ = fields.list(&field.key);
            }
        }
    }
    let command = Command::parse(&"a.md".into(), &text, SettingSource::Project);
    if let Ok(command) = command {
        let _ = command.invoke("one two");
    }
}

/// Settings files: read, or refused; and what can be read can be changed and read again.
pub(super) fn settings(bytes: &[u8]) {
    let Ok(text) = str::from_utf8(bytes) else {
        return;
    };
    let layers = |text: &str| {
        let read = SourcedSettings::parse(Source::ProjectSettings, None, text);
        let settings = read.map_err(|fault| fault.to_string())?;
        let loaded = LoadedSettings::new(vec![settings], "/project".into(), "/user".into());
        Ok::<_, String>(loaded.layers(true))
    };
    let Ok(read) = layers(text) else {
        return;
    };
    let _ = Layered::of(&read, &Environment::default());
    let rule = Rule::parse("Read").expect("a rule").value();
    let update = PermissionUpdate::AddRules(RuleChange {
        rules: vec![rule],
        behavior: Behavior::Deny,
        destination: Destination::ProjectSettings,
    });
    if let Ok(after) = changed(text, |settings| change_permissions(settings, [&update])) {
        let again = layers(&after).expect("what was just written is read");
        let denied = again.iter().any(|layer| !layer.settings.deny.is_empty());
        assert!(denied, "the rule that was added is there");
    }
}

/// Lines of an SDK, whatever the pieces they come in.
pub(super) fn protocol(bytes: &[u8]) {
    let lines = |size: usize| {
        let mut reader = LineReader::new();
        let mut lines: Vec<Line> = Vec::new();
        for piece in bytes.chunks(size) {
            lines.extend(reader.push(piece));
        }
        lines.extend(reader.finish());
        lines
    };
    let whole = lines(bytes.len().max(1));
    for size in [1, 7, 4096] {
        assert_eq!(whole, lines(size), "in {size}s");
    }
    for line in whole {
        if let Line::Text(text) = line
            && let Ok(Inbound::User(user)) = Inbound::parse(&text)
        {
            let _ = (user.blocks(), user.plain_text(), user.human_origin());
        }
    }
}

/// Transcripts: what is read of one is a conversation that goes on.
pub(super) fn transcripts(bytes: &[u8]) {
    let transcript = Transcript::read(bytes);
    assert!(transcript.whole_len <= bytes.len() as u64);
    let conversation = transcript.conversation();
    for message in &conversation.messages {
        let _ = format!("{message:?}");
    }
}

/// A project's instructions, and what they import.
pub(super) fn memory(bytes: &[u8]) {
    let Ok(text) = str::from_utf8(bytes) else {
        return;
    };
    let places = ProjectPlaces {
        config: Some("/home/.claude".into()),
        cwd: "/project".into(),
        home: Some("/home".into()),
    };
    let files = places.load(SettingSources::ALL, &[], &TwoFiles(text));
    assert!(files.memory.len() <= 2);
}

/// A project with instructions and another file, which say the same.
struct TwoFiles<'a>(&'a str);

impl ReadProject for TwoFiles<'_> {
    fn read(&self, path: &TextPath, folders: &[TextPath]) -> Result<Option<ReadFile>, String> {
        let is_inside = |real: &TextPath| folders.iter().any(|folder| real.starts_with(folder));
        Ok(self.read_own(path)?.filter(|file| is_inside(&file.real)))
    }

    fn read_own(&self, path: &TextPath) -> Result<Option<ReadFile>, String> {
        let files = ["/project/CLAUDE.md", "/project/more.md"].map(TextPath::from);
        let real = files.into_iter().find(|file| file == path);
        Ok(real.map(|real| ReadFile {
            real,
            text: self.0.to_owned(),
        }))
    }

    fn list(&self, folder: &TextPath, most: usize) -> Result<Vec<Entry>, String> {
        let files = ["CLAUDE.md", "more.md"].map(|name| Entry {
            name: name.to_owned(),
            is_text: true,
            kind: EntryKind::File,
        });
        Ok(match folder.as_str() {
            "/project" => files.into_iter().take(most).collect(),
            _ => Vec::new(),
        })
    }

    fn exists(&self, path: &TextPath) -> bool {
        path.as_str() == "/project/.git"
    }
}

/// What MCP servers answer to calls.
pub(super) fn mcp_results(bytes: &[u8]) {
    let text = String::from_utf8_lossy(bytes);
    let Ok(raw) = RawJson::parse(text.as_ref()) else {
        return;
    };
    if let Ok(result) = ToolResult::from_mcp(&raw) {
        // What is kept of it can be read by everybody: no deeper than they go.
        let kept = RawJson::encode(&result.content).expect("blocks are JSON");
        assert!(kept.depth() <= 127, "{}", kept.depth());
        let structured = result.structured.map_or(0, |structured| structured.depth());
        assert!(structured <= 127, "{structured}");
    }
}
