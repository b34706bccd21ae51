//! The core is a function of its inputs: it needs nothing of its host, and gives the same bytes
//! natively and in WebAssembly.
#![allow(clippy::unwrap_used)]

use std::fs;

use serde_json::{Value, json};
use wasmtime::{Engine, Instance, Module, Store, TypedFunc};
use windlass_core::{
    EffectId, Input, Millis, Now, Prompt, UnixMillis,
    effect::{Answer, PermissionResponse, ResolvedPath},
    permission::Mode,
    tool::{Observation, ToolResult},
    uuid_v4,
};
use windlass_testkit::{Piece, RequestView, Script, ScriptedModel};
use windlass_tests::{artefacts, compressed::brotli_len};
use windlass_wasm_core::{Line, Machine, beside};

#[test]
fn card_1_the_core_built_for_wasm32_imports_nothing() {
    let bytes = fs::read(artefacts::bare_core()).unwrap();
    let module = Module::new(&Engine::default(), &bytes).unwrap();
    let imports: Vec<String> = module
        .imports()
        .map(|import| format!("{}.{}", import.module(), import.name()))
        .collect();
    assert_eq!(imports, [""; 0], "the core asks its host for something");
    let exports: Vec<&str> = module.exports().map(|export| export.name()).collect();
    // All that the core can do is in the module whose size has a budget.
    for wanted in [
        "handle",
        "poll",
        "snapshot",
        "restore",
        "resume",
        "fork",
        "initialization",
        "rules",
    ] {
        assert!(exports.contains(&wanted), "no `{wanted}` in {exports:?}");
    }
    println!(
        "bare core: {} bytes, {} with brotli",
        bytes.len(),
        brotli_len(&bytes)
    );
}

#[test]
fn card_1_a_journal_of_inputs_gives_the_same_bytes_natively_and_in_wasm32() {
    let task = task();
    let recorded = record(&task);
    let mut guest = Guest::start(&task);
    for (number, (line, native)) in recorded.iter().enumerate() {
        let wasm = guest.handle(line);
        assert_eq!(
            &wasm, native,
            "the outputs differ after input {number}: {line}"
        );
    }
    let outputs: usize = recorded.iter().map(|(_, outputs)| outputs.len()).sum();
    let messages = recorded.iter().flat_map(|(_, outputs)| outputs);
    let results = messages
        .filter(|line| line.contains(r#""type":"result""#))
        .count();
    // The journal is worth something only if it went where it was meant to go.
    assert_eq!(results, 3, "one prompt each: done, interrupted, done");
    println!("{} inputs, {outputs} outputs, equal", recorded.len());
}

#[test]
fn card_1_replaying_a_journal_twice_gives_the_same_bytes() {
    let task = task();
    let recorded = record(&task);
    let mut machine = Machine::start(&task).unwrap();
    for (line, outputs) in &recorded {
        machine.handle(line).unwrap();
        assert_eq!(&outputs_of(&mut machine), outputs);
    }
}

#[test]
fn card_1_a_session_put_away_is_the_same_bytes_on_both_sides_and_goes_on_alike() {
    let task = task();
    let (mut machine, mut guest) = (Machine::start(&task).unwrap(), Guest::start(&task));
    for (number, (line, _)) in record(&task).iter().enumerate() {
        machine.handle(line).unwrap();
        outputs_of(&mut machine);
        guest.handle(line);
        let native = String::from_utf8(machine.snapshot().unwrap()).unwrap();
        assert_eq!(guest.snapshot(), native, "after input {number}: {line}");
    }
    // Each goes on with what the other put away.
    let (native, wasm) = (machine.snapshot().unwrap(), guest.snapshot());
    let (mut machine, mut guest) = (Machine::start(&task).unwrap(), Guest::start(&task));
    machine.restore(wasm.as_bytes()).unwrap();
    guest.restore(std::str::from_utf8(&native).unwrap());
    let prompt = Input::Prompt(Prompt::text("And now?"));
    for (at, input) in [Input::Resumed { live: Vec::new() }, prompt]
        .into_iter()
        .enumerate()
    {
        let now = Now {
            mono: Millis(10_000 + at as u64),
            wall: UnixMillis(1_767_225_700_000),
        };
        let line = serde_json::to_string(&Line { now, input }).unwrap();
        machine.handle(&line).unwrap();
        assert_eq!(guest.handle(&line), outputs_of(&mut machine), "{line}");
    }
    assert!(!machine.session().is_idle(), "the prompt is being answered");
}

#[test]
fn card_1_what_is_asked_beside_a_session_is_the_same_in_wasm32() {
    let mut guest = Guest::start(&task());
    let question = json!({
        "layers": [
            ["projectSettings", {"allow": ["Bash(npm run:*)", "Bsh"], "deny": ["Bash(rm:*)"]}],
            ["userSettings", {"allow": [{"rule": "Read(/etc/**)", "not_match": ["/etc/hosts"]}]}],
        ],
        "command": "npm run build && rm -rf dist",
    });
    let question = question.to_string();
    let told = beside::rules(&question).unwrap_err();
    assert!(
        told.contains("/etc/hosts"),
        "the example is checked: {told}"
    );
    assert_eq!(guest.ask("rules", &question), (2, told));
    let question = question.replace("\"not_match\"", "\"match\"");
    let told = beside::rules(&question).unwrap();
    assert!(told.contains("Bsh") && told.contains("is denied"), "{told}");
    assert_eq!(guest.ask("rules", &question), (1, told));
}

#[test]
fn card_1_sessions_that_go_on_are_the_same_in_wasm32() {
    let task = task();
    let (mut machine, mut guest) = (Machine::start(&task).unwrap(), Guest::start(&task));
    let told = machine.initialization().unwrap();
    assert_eq!(guest.ask("initialization", ""), (1, told));

    let transcript = [
        json!({"type": "user", "uuid": uuid_v4([8; 16]), "parentUuid": null,
            "message": {"role": "user", "content": "Remember the number 7."}}),
        json!({"type": "assistant", "uuid": uuid_v4([9; 16]), "parentUuid": uuid_v4([8; 16]),
            "message": {"role": "assistant", "content": [{"type": "text", "text": "I do."}]}}),
    ];
    let transcript: String = transcript.iter().map(|line| format!("{line}\n")).collect();
    machine.resume(uuid_v4([1; 16]), transcript.as_bytes());
    assert_eq!(guest.ask("resume", &transcript).0, 0);
    assert_eq!(machine.session().history().lines().count(), 2);
    assert_eq!(guest.snapshot().as_bytes(), machine.snapshot().unwrap());

    machine.fork(uuid_v4([2; 16]));
    assert_eq!(guest.ask("fork", "").0, 0);
    assert_eq!(guest.snapshot().as_bytes(), machine.snapshot().unwrap());
}

/// A session that meets retries, questions, parallel calls, bad input, a cut stream and an interrupt.
fn task() -> String {
    let tool = |name: &str, read_only: bool, access: &str| {
        json!({
            "name": name,
            "description": format!("{name}."),
            "input_schema": {
                "type": "object",
                "properties": {"file_path": {"type": "string"}},
                "required": ["file_path"],
            },
            "annotations": {"readOnly": read_only},
            "paths": [{"field": "file_path", "access": access}],
        })
    };
    let spec = json!({
        "system": "Be brief. Ü→𝄞",
        "tools": [tool("Read", true, "read"), tool("Write", false, "write")],
        "partial_messages": true,
        "persist": true,
        "limits": {"max_turns": 20, "max_budget": 5},
        "prices": {"models": [{"prefix": "claude-", "input": 3, "output": 15, "cache_read": "0.3", "cache_write": "3.75",
            "context_window": 200_000, "max_output_tokens": 64_000, "thinking": "adaptive"}]},
        "permissions": {"allow": ["Read"], "deny": ["Read(secret/**)"], "can_ask": true},
        "environment": {"cwd": "/work", "version": "test"},
    });
    json!({"seed": "5a".repeat(32), "spec": spec}).to_string()
}

fn script() -> ScriptedModel {
    let read =
        |path: &str| json!({"type": "tool_use", "name": "Read", "input": {"file_path": path}});
    let script = json!({
        "model": "claude-sonnet-4-6",
        "exchanges": [
            {"respond": {"error": {"type": "overloaded_error", "message": "Overloaded"}}},
            {"respond": {
                "content": [
                    {"type": "thinking", "thinking": "Grüße, 世界, 𝄞", "signature": "c2lnbmVk"},
                    "Zwei Dateien: naïve – ‹über›.",
                    read("/work/a.txt"), read("b.txt"), read("/work/secret/key"),
                    {"type": "tool_use", "name": "Write", "input": {"file_path": "/work/c.txt"}},
                    {"type": "tool_use", "name": "Read", "input_text": "{\"file_path\": "},
                    {"type": "tool_use", "name": "Nothing", "input": {}},
                ],
                "chunks": {"bytes": 1},
            }},
            {"respond": {"text": "cut in the middle", "faults": [{"after_bytes": 300, "cut": true}]}},
            {"respond": {"text": "Done.", "chunks": {"random": {"seed": 3, "max": 50}}}},
            {"respond": {"text": "This one is interrupted.", "chunks": {"bytes": 7}}},
            {"respond": {"text": "And on.", "form": "json"}},
        ],
    });
    ScriptedModel::new(Script::parse(&script.to_string()).unwrap())
}

type Recorded = Vec<(String, Vec<String>)>;

/// Turns a native session and keeps every input with the outputs that it led to.
fn record(task: &str) -> Recorded {
    let mut recorder = Recorder {
        machine: Machine::start(task).unwrap(),
        model: script(),
        now: 0,
        recorded: Vec::new(),
        to_answer: Vec::new(),
        interrupt_after: None,
    };
    recorder.prompt("Compare the files – bitte.");
    recorder.interrupt_after = Some(40);
    recorder.prompt("Say something long.");
    recorder.give(Input::SetMode(Mode::AcceptEdits));
    recorder.prompt("Go on.");
    recorder.model.verify().unwrap();
    recorder.recorded
}

/// A host in the small: answers what a session asks, one answer at a time.
struct Recorder {
    machine: Machine,
    model: ScriptedModel,
    now: u64,
    recorded: Recorded,
    /// Effects that have not got all their answers, each with those still to come.
    to_answer: Vec<(EffectId, Vec<Answer>)>,
    /// After so many inputs of a prompt, an interrupt.
    interrupt_after: Option<usize>,
}

impl Recorder {
    fn prompt(&mut self, text: &str) {
        let begun = self.recorded.len();
        self.give(Input::Prompt(Prompt::text(text)));
        while !self.machine.session().is_idle() {
            if self
                .interrupt_after
                .is_some_and(|inputs| self.recorded.len() - begun == inputs)
            {
                self.interrupt_after = None;
                self.give(Input::Interrupt);
            } else if let Some((id, mut answers)) = self.to_answer.pop() {
                // The latest first: calls that run beside each other are answered in another order than they began.
                let answer = answers.remove(0);
                if !answers.is_empty() {
                    self.to_answer.push((id, answers));
                }
                self.give(Input::Answer(id, answer));
            } else {
                let deadline = self.machine.session().deadline();
                self.now = deadline.expect("a session that waits has a deadline").0;
                self.give(Input::Tick);
            }
        }
    }

    fn give(&mut self, input: Input) {
        self.now += 3;
        let now = Now {
            mono: Millis(self.now),
            wall: UnixMillis(1_767_225_600_000 + self.now),
        };
        let line = serde_json::to_string(&Line { now, input }).unwrap();
        self.machine.handle(&line).unwrap();
        let outputs = outputs_of(&mut self.machine);
        for output in &outputs {
            self.take(&serde_json::from_str(output).unwrap());
        }
        self.recorded.push((line, outputs));
    }

    fn take(&mut self, output: &Value) {
        if let Some(cancelled) = output.get("cancel").or(output.get("abandon")) {
            let cancelled: EffectId = serde_json::from_value(cancelled.clone()).unwrap();
            self.to_answer.retain(|(id, _)| *id != cancelled);
            if output.get("cancel").is_some() {
                self.to_answer.push((cancelled, vec![Answer::Cancelled]));
            }
        } else if let Some(effect) = output.get("effect") {
            let id = serde_json::from_value(effect[0].clone()).unwrap();
            let answers = self.answers(&effect[1]);
            self.to_answer.push((id, answers));
        } else {
            assert!(output.get("message").is_some(), "{output}");
        }
    }

    fn answers(&mut self, effect: &Value) -> Vec<Answer> {
        let (kind, asked) = effect.as_object().unwrap().iter().next().unwrap();
        match kind.as_str() {
            "http" => self.http(asked),
            "resolve" => {
                let paths = asked.as_array().unwrap().iter().map(|asked| {
                    let path = asked["path"].as_str().unwrap();
                    let path = match path.starts_with('/') {
                        true => path.to_owned(),
                        false => format!("/work/{path}"),
                    };
                    Ok(ResolvedPath::at(path))
                });
                vec![Answer::Resolved(paths.collect())]
            }
            "call_tool" => {
                let path = asked["input"]["file_path"].as_str().unwrap();
                let mut result = ToolResult::text(format!("{path} – gelesen ✓"));
                result.observed.push(Observation {
                    path: path.to_owned(),
                    digest: "sha256:00".to_owned(),
                    whole: true,
                });
                vec![
                    Answer::Progress("half way".to_owned()),
                    Answer::Tool(result),
                ]
            }
            "ask_permission" => vec![Answer::Permission(PermissionResponse::allow())],
            "persist" => vec![Answer::Persisted],
            other => panic!("no answer for {other}"),
        }
    }

    fn http(&mut self, request: &Value) -> Vec<Answer> {
        let headers: Vec<(String, String)> =
            serde_json::from_value(request["headers"].clone()).unwrap();
        let pieces = self.model.answer(&RequestView {
            path: request["path"].as_str().unwrap(),
            headers: &headers,
            body: request["body"].as_str().unwrap().as_bytes(),
        });
        let answer = |piece| match piece {
            Piece::Head { status, headers } => Some(Answer::HttpHead { status, headers }),
            Piece::Bytes(bytes) => Some(Answer::HttpBody(bytes)),
            Piece::End => Some(Answer::HttpEnd),
            Piece::Cut => Some(Answer::HttpFailed(windlass_core::effect::HttpFailure::new(
                windlass_core::effect::HttpFailureKind::Interrupted,
                "cut",
            ))),
            _ => None,
        };
        pieces.into_iter().filter_map(answer).collect()
    }
}

fn outputs_of(machine: &mut Machine) -> Vec<String> {
    std::iter::from_fn(|| machine.poll()).collect()
}

/// The module in wasmtime, which gives it nothing.
struct Guest {
    store: Store<()>,
    instance: Instance,
}

impl Guest {
    fn start(task: &str) -> Self {
        let engine = Engine::default();
        let module = Module::from_file(&engine, artefacts::bare_core()).unwrap();
        let mut store = Store::new(&engine, ());
        let instance = Instance::new(&mut store, &module, &[]).unwrap();
        let mut guest = Self { store, instance };
        guest.write(task);
        assert_eq!(guest.call("start"), 0, "{}", guest.output());
        guest
    }

    fn handle(&mut self, line: &str) -> Vec<String> {
        self.write(line);
        assert_eq!(self.call("handle"), 0, "{}", self.output());
        let mut outputs = Vec::new();
        while self.call("poll") == 1 {
            outputs.push(self.output());
        }
        outputs
    }

    fn ask(&mut self, function: &str, text: &str) -> (u32, String) {
        self.write(text);
        (self.call(function), self.output())
    }

    fn snapshot(&mut self) -> String {
        assert_eq!(self.call("snapshot"), 1, "{}", self.output());
        self.output()
    }

    fn restore(&mut self, snapshot: &str) {
        self.write(snapshot);
        assert_eq!(self.call("restore"), 0, "{}", self.output());
    }

    fn call(&mut self, name: &str) -> u32 {
        let function: TypedFunc<(), u32> =
            self.instance.get_typed_func(&mut self.store, name).unwrap();
        function.call(&mut self.store, ()).unwrap()
    }

    fn write(&mut self, text: &str) {
        let input: TypedFunc<u32, u32> = self
            .instance
            .get_typed_func(&mut self.store, "input")
            .unwrap();
        let length = u32::try_from(text.len()).unwrap();
        let place = input.call(&mut self.store, length).unwrap();
        let memory = self.instance.get_memory(&mut self.store, "memory").unwrap();
        memory
            .write(&mut self.store, place as usize, text.as_bytes())
            .unwrap();
    }

    fn output(&mut self) -> String {
        let (place, length) = (self.call("output"), self.call("output_length"));
        let memory = self.instance.get_memory(&mut self.store, "memory").unwrap();
        let mut bytes = vec![0; length as usize];
        memory
            .read(&self.store, place as usize, &mut bytes)
            .unwrap();
        String::from_utf8(bytes).unwrap()
    }
}
