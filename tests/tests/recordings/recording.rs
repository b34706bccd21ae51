//! Recordings of what another engine and an SDK said to each other: one JSON object a line, `{dir, msg}`.

use std::{
    collections::BTreeMap,
    fs, io,
    path::{Path, PathBuf},
};

use serde::Deserialize;
use serde_json::{Value, json};

use crate::{
    label::{CONVERSATION, Labels, REPLIES, lane},
    scenario::{After, Scenario, Step},
    stage::{Stage, Staged},
};

/// The variable that names the directory of recordings.
pub(crate) const VARIABLE: &str = "WINDLASS_RECORDINGS";

/// Nothing is owed any more.
const IDLE: &str = "system/session_state_changed:idle";

/// What was said, in its order.
pub(crate) struct Recording {
    pub(crate) name: String,
    lines: Vec<Line>,
}

#[derive(Deserialize)]
struct Line {
    dir: String,
    #[serde(default)]
    msg: Value,
}

/// The recordings in the directory that the environment names; none if it names none.
///
/// # Errors
/// When it cannot be read, or a file is no recording.
pub(crate) fn all(stage: &Stage) -> io::Result<Option<Vec<Recording>>> {
    let Some(directory) = std::env::var_os(VARIABLE) else {
        return Ok(None);
    };
    let mut files: Vec<PathBuf> = fs::read_dir(directory)?
        .map(|entry| entry.map(|entry| entry.path()))
        .collect::<io::Result<_>>()?;
    files.retain(|path| path.extension().is_some_and(|it| it == "ndjson"));
    files.sort();
    let read = files.iter().map(|path| Recording::read(path, stage));
    read.collect::<io::Result<_>>().map(Some)
}

impl Recording {
    fn read(path: &Path, stage: &Stage) -> io::Result<Self> {
        let text = stage.replaced(&fs::read_to_string(path)?);
        let lines = (text.lines())
            .map(serde_json::from_str)
            .collect::<Result<_, _>>()
            .map_err(|error| io::Error::other(format!("{}: {error}", path.display())))?;
        let name = path.file_stem().unwrap_or_default();
        Ok(Self {
            name: name.to_string_lossy().into_owned(),
            lines,
        })
    }

    /// The frames of the engine with their names.
    pub(crate) fn frames(&self) -> Vec<(String, &Value)> {
        let mut labels = Labels::default();
        let mut frames = Vec::new();
        for line in &self.lines {
            match line.dir.as_str() {
                "sdk->cli" => labels.heard(&line.msg),
                "cli->sdk" => frames.push((labels.name(&line.msg), &line.msg)),
                _ => {}
            }
        }
        frames
    }

    /// How the same is played again. What a recording does not tell (how the model's server failed, which files there
    /// were) is in the stage.
    pub(crate) fn scenario(&self, stage: &Stage) -> Scenario {
        let staged = stage.scenario.get(&self.name).unwrap_or(&stage.usual);
        let mut steps = self.steps();
        steps.extend(staged.steps.iter().cloned());
        let last = Step {
            after: match staged.ends_at_once {
                true => None,
                false => self.last_state(),
            },
            end: true,
            ..Step::default()
        };
        if staged.signals() {
            steps.retain(|step| !step.end);
        } else {
            steps.push(last);
        }
        let spawn = self.lines.iter().find(|line| line.dir == "spawn");
        let spawn = spawn.map_or(&Value::Null, |line| &line.msg);
        let flags = [&spawn["args"], &spawn["argv"]];
        let flags = flags.into_iter().find_map(Value::as_array);
        let added = spawn["env_added"].as_object().into_iter().flatten();
        let mut environment: BTreeMap<String, String> = stage.environment.clone();
        environment.extend(added.map(|(name, value)| (name.clone(), text(value))));
        environment.extend(staged.environment.clone());
        Scenario {
            flags: flags.into_iter().flatten().map(text).collect(),
            environment,
            before: staged.before.clone(),
            files: stage.files.clone(),
            steps,
            answers: self.answers(staged),
            exchanges: self.exchanges(staged),
            frames: BTreeMap::new(),
            exit: self.exit(),
        }
    }

    fn exit(&self) -> Option<i32> {
        let exit = self.lines.iter().find(|line| line.dir == "exit")?;
        i32::try_from(exit.msg["exit_code"].as_i64()?).ok()
    }

    /// What the SDK says of its own accord, each behind the last thing that it may have waited for. What it said between a
    /// result and the word that nothing is owed any more comes behind that word: else it would be chance whether the word is
    /// said at all.
    fn steps(&self) -> Vec<Step> {
        let mut labels = Labels::default();
        let mut seen: BTreeMap<String, usize> = BTreeMap::new();
        let mut last = None;
        let mut steps = Vec::new();
        for line in &self.lines {
            match line.dir.as_str() {
                "cli->sdk" => {
                    let frame = labels.name(&line.msg);
                    let times = seen.entry(frame.clone()).or_default();
                    *times += 1;
                    if frame == IDLE {
                        let behind = |step: &&mut Step| {
                            let result = |after: &After| after.frame.starts_with("result/");
                            step.after == last && step.after.as_ref().is_some_and(result)
                        };
                        let times = *times;
                        for step in steps.iter_mut().filter(behind) {
                            let frame = IDLE.to_owned();
                            step.after = Some(After { frame, times });
                        }
                    }
                    if is_waited_for(&frame) {
                        last = Some(After {
                            frame,
                            times: *times,
                        });
                    }
                }
                "sdk->cli" => {
                    labels.heard(&line.msg);
                    if labels.answered(&line.msg).is_none() {
                        steps.push(Step {
                            after: last.clone(),
                            say: Some(line.msg.clone()),
                            ..Step::default()
                        });
                    }
                }
                _ => {}
            }
        }
        steps
    }

    /// The last time that the engine says that it is idle; else the last thing that it says.
    fn last_state(&self) -> Option<After> {
        let frames = self.frames();
        let is_idle = |(label, _): &&(String, &Value)| label == IDLE;
        let reply = (frames.iter()).rfind(|(label, _)| label.starts_with("reply/"));
        match frames.iter().filter(is_idle).count() {
            0 => reply.map(|(label, _)| After {
                frame: label.clone(),
                times: frames.iter().filter(|(other, _)| other == label).count(),
            }),
            times => Some(After {
                frame: IDLE.to_owned(),
                times,
            }),
        }
    }

    /// The SDK's answers to what the engine asks, in the order of the questions; null where it gave none.
    fn answers(&self, staged: &Staged) -> BTreeMap<String, Vec<Value>> {
        let mut labels = Labels::default();
        let mut answers = staged.answers.clone();
        for line in self.lines.iter().filter(|line| line.dir == "cli->sdk") {
            let label = labels.name(&line.msg);
            if label.starts_with("ask/") {
                let id = &line.msg["request_id"];
                let mut said = self.lines.iter().filter(|line| line.dir == "sdk->cli");
                let answer = said.find(|line| line.msg["response"]["request_id"] == *id);
                let mut answer = answer.map_or(Value::Null, |line| line.msg["response"].clone());
                if let Some(fields) = answer.as_object_mut() {
                    fields.remove("request_id");
                }
                answers.entry(label).or_default().push(answer);
            }
        }
        answers
    }

    /// What the model answered, put together from what the engine handed on.
    fn exchanges(&self, staged: &Staged) -> Vec<Value> {
        if let Some(exchanges) = &staged.exchanges {
            return exchanges.clone();
        }
        let mut order: Vec<&str> = Vec::new();
        let mut contents: BTreeMap<&str, Vec<Value>> = BTreeMap::new();
        for line in self.lines.iter().filter(|line| line.dir == "cli->sdk") {
            let message = &line.msg["message"];
            if line.msg["type"] != "assistant" || message["model"] == "<synthetic>" {
                continue;
            }
            let id = message["id"].as_str().unwrap_or_default();
            if !contents.contains_key(id) {
                order.push(id);
            }
            let blocks = message["content"].as_array().into_iter().flatten();
            contents.entry(id).or_default().extend(blocks.cloned());
        }
        let exchange = |id: &str| {
            let usage = json!({"input_tokens": 10, "output_tokens": 7});
            json!({"respond": {"id": id, "content": contents[id], "usage": usage}})
        };
        let recorded = order.into_iter().map(exchange);
        recorded
            .chain(staged.more_exchanges.iter().cloned())
            .collect()
    }
}

/// Whether an SDK may wait for such a frame before it goes on. The others come when they come.
fn is_waited_for(label: &str) -> bool {
    label == IDLE
        || lane(label) == REPLIES
        || lane(label) == CONVERSATION && !label.starts_with("system/session_state_changed")
}

fn text(value: &Value) -> String {
    value.as_str().unwrap_or_default().to_owned()
}
