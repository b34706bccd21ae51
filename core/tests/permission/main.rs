//! Rules as values: what they cover, which decides, what is wrong with them, and how they change.
#![allow(clippy::unwrap_used)]

mod arguments;
mod authority;
mod confinement;
mod everyday;
mod layers;
mod modes;
mod people;
mod rules;
mod updates;
mod workspace;

use serde_json::json;
use windlass_core::{
    RawJson,
    permission::{
        CallFacts, CallSubject, Decision, Mode, PathFact, PolicyContext, Rule, Rules, Verdict,
        judge,
    },
    spec::Environment,
    tool::{Access, PathParam, ToolDefinition},
    tools::CoreTool,
};

const CWD: &str = "/work";

fn environment() -> Environment {
    Environment {
        cwd: CWD.into(),
        home: Some("/home/me".into()),
        additional_directories: vec!["/extra".into()],
        ..Environment::default()
    }
}

fn tool(name: &str) -> ToolDefinition {
    let mut tool = ToolDefinition::new(name, "", RawJson::empty_object());
    let access = match name {
        "Read" | "Grep" | "Glob" => Some(Access::Read),
        "Edit" | "Write" | "NotebookEdit" => Some(Access::Write),
        _ => None,
    };
    tool.annotations.read_only = access == Some(Access::Read);
    tool.paths.extend(access.map(|access| PathParam {
        field: "file_path".into(),
        access,
        default_cwd: false,
        read_first: false,
    }));
    tool.core = CoreTool::ALL.into_iter().find(|core| core.name() == name);
    if name == "Bash" {
        tool.command_param = Some("command".into());
        tool.outside_param = Some("dangerouslyDisableSandbox".into());
    }
    tool
}

/// What a host without links says.
fn real(path: &str) -> String {
    let mut parts: Vec<&str> = Vec::new();
    for part in path.split('/') {
        match part {
            "" | "." => {}
            ".." => drop(parts.pop()),
            part => parts.push(part),
        }
    }
    format!("/{}", parts.join("/"))
}

/// A call as the session sees it: `Bash` with a command, file tools with a path, others with an input.
struct Call {
    tool: ToolDefinition,
    subject: CallSubject,
    paths: Vec<PathFact>,
}

impl Call {
    fn new(name: &str, what: &str) -> Self {
        let tool = tool(name);
        let input = match name {
            "Bash" => json!({ "command": what }),
            "WebFetch" => json!({ "url": what }),
            "Task" | "Agent" => json!({ "subagent_type": what }),
            "Skill" => json!({ "skill": what }),
            _ => json!({}),
        };
        let input = RawJson::parse(input.to_string()).unwrap();
        let subject = CallSubject::of(&tool, &input, CWD);
        let mut paths: Vec<PathFact> = tool
            .paths
            .iter()
            .map(|param| PathFact {
                path: what.into(),
                access: param.access,
                written: what.into(),
            })
            .collect();
        if let Some(command) = &subject.command {
            paths.extend(command.paths().into_iter().map(|asked| PathFact {
                path: real(&asked.path),
                access: asked.access,
                written: asked.path,
            }));
        }
        Self {
            tool,
            subject,
            paths,
        }
    }

    fn facts(&self) -> CallFacts<'_> {
        self.subject.facts(&self.tool, &self.paths)
    }
}

fn parsed(texts: &[&str]) -> Vec<Rule> {
    texts
        .iter()
        .map(|text| Rule::parse(text).unwrap())
        .collect()
}

fn allow(texts: &[&str]) -> Rules {
    Rules {
        allow: parsed(texts),
        ..Rules::default()
    }
}

fn deny(texts: &[&str]) -> Rules {
    Rules {
        deny: parsed(texts),
        ..Rules::default()
    }
}

/// What becomes of a command without a rule, where edits are accepted.
fn accepting_edits(line: &str) -> Verdict {
    let call = Call::new("Bash", line);
    let accepted = verdict(&Rules::default(), Mode::AcceptEdits, &call);
    let auto = verdict(&Rules::default(), Mode::Auto, &call);
    assert_eq!(accepted, auto, "{line}");
    accepted
}

fn verdict(rules: &Rules, mode: Mode, call: &Call) -> Verdict {
    decision(rules, mode, call).verdict
}

fn decision(rules: &Rules, mode: Mode, call: &Call) -> Decision {
    let environment = environment();
    judge(
        &PolicyContext::new(rules, mode, &environment),
        call.facts(),
        None,
    )
}
