//! A world in which everything is generated at random: the spec, the messages, the answers.

mod feature;
mod hook;
mod message;
mod spec;

use alloc::{
    collections::BTreeSet,
    format,
    string::{String, ToString},
    sync::Arc,
    vec::Vec,
};

use serde_json::{Value, json};
use windlass_core::{
    content::ResultBlock,
    effect::{
        Answer, Delivery, HttpRequest, PermissionRequest, PermissionResponse, Probe, Probed, Prompt,
    },
    hook::HookCall,
    id::Seeded,
    json::RawJson,
    permission::{
        Behavior, Destination, DirectoryChange, Mode, PermissionUpdate, ResolvePath, ResolvedPath,
        RuleChange, RuleValue,
    },
    provider::openai::ChatCompletions,
    spec::Spec,
    tool::{ToolCall, ToolResult},
};

use self::message::Manners;
use super::{
    exchange::pick,
    run::seed_bytes,
    world::{Asked, World},
};
use crate::{
    host::normalised,
    oracle::{Deny, Oracles},
};

/// The maximum number of prompts in a run.
const PROMPTS: usize = 4;

/// A folder in which nothing may be edited, and one from which nothing may be read.
const SECRET: &str = "/work/secret";
const PRIVATE: &str = "/work/private";

/// Paths as a model writes them, and what they resolve to.
const PATHS: [(&str, &str); 9] = [
    ("src/a.txt", "/work/src/a.txt"),
    ("/work/src/b.txt", "/work/src/b.txt"),
    ("./src/../src/c.txt", "/work/src/c.txt"),
    ("secret/key", "/work/secret/key"),
    ("src/../secret/key", "/work/secret/key"),
    ("link/key", "/work/secret/key"),
    ("private/diary", "/work/private/diary"),
    ("../etc/passwd", "/etc/passwd"),
    ("/tmp/x", "/tmp/x"),
];

/// Commands, and whether they remove files, which is denied.
const COMMANDS: [(&str, bool); 12] = [
    ("git log", false),
    ("git status && ls", false),
    ("ls -l", false),
    ("rm -rf build", true),
    ("ls && rm x", true),
    ("git log; rm x", true),
    ("git log | rm x", true),
    ("(rm x)", true),
    ("env A=1 rm x", true),
    ("echo \"$(rm x)\"", true),
    ("sh -c 'rm x'", true),
    ("echo 'not closed", false),
];

/// The world of [`Sim::generated`](super::Sim::generated).
#[derive(Debug)]
pub struct Generated {
    dice: Seeded,
    manners: Manners,
    /// Whether the model uses chat completions.
    chats: bool,
    /// Whether nothing runs in the background, for runs that are compared with another order.
    foreground: bool,
    keeps_to_it: bool,
    /// Whether prompts may compact the conversation.
    compacts: bool,
    /// The random numbers for features.
    of_features: Seeded,
    met: BTreeSet<&'static str>,
}

impl Generated {
    /// The world for a seed.
    #[must_use]
    pub fn new(seed: u64) -> Self {
        let mut dice = Seeded::new(seed_bytes(&[seed, 3]));
        let manners = match dice.below(3) {
            0 => Manners::Bad,
            _ => Manners::Good,
        };
        // Separate random numbers: everything else is the same in either format.
        let mut of_wire = Seeded::new(seed_bytes(&[seed, 6]));
        Self {
            dice,
            manners,
            chats: of_wire.below(4) == 0,
            foreground: of_wire.below(2) == 0,
            keeps_to_it: false,
            compacts: true,
            of_features: Seeded::new(seed_bytes(&[seed, 7])),
            met: BTreeSet::new(),
        }
    }

    /// The features of worlds beyond the basic loop, each present in a part of the worlds. Runs report the ones they have
    /// exercised ([`SimRun::met`](super::SimRun::met)).
    #[must_use]
    pub fn features() -> BTreeSet<&'static str> {
        feature::names()
    }
}

impl World for Generated {
    fn keeps_to_the_foreground(&mut self) -> bool {
        self.keeps_to_it = self.foreground;
        self.compacts = self.foreground;
        self.foreground
    }

    fn spec(&mut self) -> Spec {
        let mut spec = spec::generate(&mut self.dice);
        feature::add(&mut self.of_features, &mut spec);
        if self.chats {
            spec.model.provider = Arc::new(ChatCompletions::default());
        }
        spec
    }

    fn prompt(&mut self, number: usize, idle: bool) -> Option<Prompt> {
        if number >= PROMPTS || (!idle && self.dice.below(4) > 0) {
            return None;
        }
        let mut prompt = match self.dice.below(20) {
            0 => return Some(Prompt::text("")),
            1 => return Some(Prompt::blocks(vec![])),
            2..5 if self.compacts => return Some(Prompt::text("/compact")),
            2..5 => return Some(Prompt::text("Go on.")),
            _ => Prompt::text("Go on."),
        };
        prompt.delivery = match self.dice.below(8) {
            0..3 => Delivery::Steer,
            3 => Delivery::Append,
            _ => Delivery::FollowUp,
        };
        Some(prompt)
    }

    fn model(&mut self, asked: Asked<'_>, request: &HttpRequest) -> Vec<Answer> {
        let body = request.body_bytes();
        self.met.extend(feature::shown(&body));
        message::generate(asked, request, &body, self.manners, self.keeps_to_it)
    }

    fn tool(&mut self, asked: Asked<'_>, call: &ToolCall) -> Vec<Answer> {
        let mut answers = Vec::new();
        while !asked.plainly && answers.len() < 3 && asked.dice.below(4) == 0 {
            answers.push(match asked.dice.below(2) {
                0 => Answer::Progress("working".into()),
                _ => Answer::Output(format!("line {}\n", answers.len())),
            });
        }
        let is_shop = call.name.starts_with("mcp__");
        answers.push(Answer::Tool(match is_shop && asked.dice.below(2) == 0 {
            true => ToolResult::text(feature::FROM_THE_SHOP),
            false => result(asked.dice),
        }));
        answers
    }

    fn probe(&mut self, asked: Asked<'_>, _probe: &Probe) -> Probed {
        match asked.dice.below(3) {
            0 => Probed::Done(result(asked.dice)),
            1 => Probed::NotDone,
            _ => Probed::Unknown,
        }
    }

    fn permission(&mut self, asked: Asked<'_>, request: &PermissionRequest) -> PermissionResponse {
        let dice = asked.dice;
        if request.tool_name == "AskUserQuestion" && dice.below(2) == 0 {
            return answered(request);
        }
        if !asked.in_any_order && dice.below(6) == 0 {
            self.met.insert(feature::UPDATES);
            return PermissionResponse::Allow {
                updated_input: None,
                updated_permissions: vec![update(dice)],
            };
        }
        match dice.below(10) {
            0 => PermissionResponse::deny("no"),
            1 | 5 | 6 => PermissionResponse::Allow {
                updated_input: Some(message::input(dice, self.keeps_to_it)),
                updated_permissions: vec![],
            },
            2 => PermissionResponse::Allow {
                updated_input: RawJson::parse("[1]").ok(),
                updated_permissions: vec![],
            },
            // Rules that would widen what is denied, if they were applied.
            3 => PermissionResponse::Allow {
                updated_input: None,
                updated_permissions: vec![PermissionUpdate::allow_in_session(vec![
                    RuleValue::tool("Note"),
                    RuleValue::tool("Locked"),
                    RuleValue::some("Edit", "secret/**"),
                    RuleValue::some("Bash", "rm:*"),
                ])],
            },
            // This mode has not been permitted, so the rule beside it does not apply either.
            4 => PermissionResponse::Allow {
                updated_input: None,
                updated_permissions: vec![
                    PermissionUpdate::allow_in_session(vec![RuleValue::tool("Bash")]),
                    PermissionUpdate::SetMode {
                        mode: Mode::BypassPermissions,
                        destination: Destination::Session,
                    },
                ],
            },
            _ => PermissionResponse::allow(),
        }
    }

    fn hook(&mut self, asked: Asked<'_>, call: &HookCall) -> Vec<Answer> {
        hook::generate(asked.dice, call, self.keeps_to_it)
    }

    fn resolve(
        &mut self,
        _asked: Asked<'_>,
        path: &ResolvePath,
        cwd: &str,
    ) -> Result<ResolvedPath, String> {
        let known = PATHS.iter().find(|(written, _)| *written == path.path);
        let path = known.map_or_else(|| normalised(cwd, &path.path), |(_, real)| (*real).into());
        Ok(ResolvedPath::at(path))
    }

    fn met(&self) -> BTreeSet<&'static str> {
        self.met.clone()
    }

    fn oracles(&self) -> Oracles {
        Oracles::new()
            .with(Deny::also(alloc::boxed::Box::new(forbidden)))
            .with(feature::Closed)
    }
}

/// The answers of a person to questions.
fn answered(request: &PermissionRequest) -> PermissionResponse {
    let mut input: Value = request.input.decode().unwrap_or_default();
    let first = input["questions"][0]["question"]
        .as_str()
        .map(ToString::to_string);
    input["answers"] = json!({first.unwrap_or_default(): "A"});
    PermissionResponse::Allow {
        updated_input: RawJson::encode(&input).ok(),
        updated_permissions: vec![],
    }
}

/// A change of the permissions. None of them permits what the spec denies.
fn update(dice: &mut Seeded) -> PermissionUpdate {
    let destination = [Destination::Session, Destination::CliArg][pick(dice, 2)];
    let change = |tools: &[&str], behavior| RuleChange {
        rules: tools.iter().map(|tool| RuleValue::tool(*tool)).collect(),
        behavior,
        destination,
    };
    let directories = || DirectoryChange {
        directories: vec!["/tmp".to_string(), "lib".to_string()],
        destination,
    };
    match dice.below(8) {
        0 => PermissionUpdate::SetMode {
            mode: Mode::AcceptEdits,
            destination,
        },
        1 => PermissionUpdate::SetMode {
            mode: Mode::Plan,
            destination,
        },
        2 => PermissionUpdate::AddRules(change(&["Look"], Behavior::Deny)),
        // Rules of the session only: the spec's come from options, and a person may remove these.
        3 => PermissionUpdate::RemoveRules(RuleChange {
            destination: Destination::Session,
            ..change(&["Locked", "Look"], Behavior::Deny)
        }),
        4 => PermissionUpdate::ReplaceRules(change(&["Bash"], Behavior::Ask)),
        5 => PermissionUpdate::AddDirectories(directories()),
        6 => PermissionUpdate::RemoveDirectories(directories()),
        _ => PermissionUpdate::AddRules(change(
            &["Look", "Note", "Locked", "Skill"],
            Behavior::Allow,
        )),
    }
}

/// The meaning of the deny rules of [`spec::generate`], without rules.
fn forbidden(call: &ToolCall, paths: &[String]) -> Option<String> {
    let below = |root: &str| paths.iter().any(|path| path.starts_with(root));
    if below(PRIVATE) {
        return Some("nothing may touch the private directory".into());
    }
    if call.name == "Edit" && below(SECRET) {
        return Some("nothing may edit the secret directory".into());
    }
    let closed = |pattern: &str| {
        call.grant
            .deny
            .iter()
            .any(|deny| deny.pattern.contains(pattern))
    };
    let told = closed(PRIVATE) && closed(SECRET);
    if !told && !paths.is_empty() {
        return Some("the resolver is not told what is closed".into());
    }
    let command = windlass_core::json::RawObject::parse(call.input.get()).ok()?;
    let command = command.get_string("command")?;
    let removes = COMMANDS
        .iter()
        .any(|(text, removes)| *removes && *text == command);
    (call.name == "Bash" && removes).then(|| "nothing may be removed".into())
}

fn result(dice: &mut Seeded) -> ToolResult {
    match pick(dice, 8) {
        0 => ToolResult::error("it broke"),
        1 => ToolResult::default(),
        2 => ToolResult {
            content: vec![
                ResultBlock::Text { text: "".into() },
                ResultBlock::image("image/png", "aGk=".into()),
            ],
            structured: RawJson::parse("{\"a\": 1}").ok(),
            ..ToolResult::default()
        },
        3 => {
            let block = json!({"type": "search_result", "source": "s", "title": "t",
                "content": [{"type": "text", "text": "x"}]});
            ToolResult {
                content: (RawJson::parse(block.to_string()).into_iter())
                    .map(ResultBlock::Other)
                    .collect(),
                ..ToolResult::default()
            }
        }
        _ => ToolResult::text("done"),
    }
}
