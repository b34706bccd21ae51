//! Explains a decision: every rule that was considered, and what would allow the call.

use alloc::{
    format,
    string::{String, ToString},
    vec::Vec,
};
use core::fmt;

use serde::Serialize;

use super::{
    Behavior, CallFacts, Cause, Decision, HookVerdict, Mode, PermissionUpdate, PolicyContext, Rule,
    RuleName, Verdict, command::RuleMatch, judge, suggest,
};

/// A decision with everything that was considered for it; as text for people, and as data.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct Explanation {
    /// The tool.
    pub tool: String,
    /// The decision and its cause.
    pub decision: Decision,
    /// Every rule in the order of evaluation (deny, ask, allow), followed by those that do not count.
    pub considered: Vec<Considered>,
    /// The current mode, which decides if no rule does.
    pub mode: Mode,
    /// Permission updates, each of which would let the call run; empty if a rule forbids it.
    pub would_allow: Vec<PermissionUpdate>,
}

/// A rule, and how it applies to a call.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct Considered {
    /// The rule and where it comes from.
    #[serde(flatten)]
    pub name: RuleName,
    /// The behaviour of the rule.
    pub behavior: Behavior,
    /// Whether it covers this call.
    pub fit: Fit,
    /// Whether it decided, alone or together with others.
    pub decides: bool,
}

/// Whether a rule covers a call.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize)]
#[serde(rename_all = "snake_case")]
pub enum Fit {
    /// The rule is for another tool.
    OtherTool,
    /// The rule is for this tool, but not for this call.
    OtherCall,
    /// The rule may cover the call: what it names is computed, or comes after options.
    Perhaps,
    /// The rule allows a command of the line; each of the others needs a rule of its own.
    Part,
    /// The rule covers the call.
    Covers,
    /// The rule would allow the call, but does not count: nobody has trusted the folder it comes from.
    Untrusted,
}

impl Fit {
    fn words(self) -> &'static str {
        match self {
            Self::OtherTool => "is about another tool",
            Self::OtherCall => "does not cover this call",
            Self::Perhaps => "may cover it: what it names is computed or stands behind options",
            Self::Part => "covers a part of the line",
            Self::Covers => "covers it",
            Self::Untrusted => "would cover it, but the folder is not trusted",
        }
    }
}

/// Explains which rule decides a call, and why each of the others does not.
#[must_use]
pub fn explain(
    policy: &PolicyContext<'_>,
    call: CallFacts<'_>,
    hook: Option<&HookVerdict>,
) -> Explanation {
    let line = call.command;
    let decision = judge::judge(policy, call, hook);
    let guard = |rule: &Rule| match judge::rule_match(rule, policy, call) {
        RuleMatch::Yes => Fit::Covers,
        RuleMatch::Perhaps => Fit::Perhaps,
        RuleMatch::No => miss(rule, call),
    };
    let allow = |rule: &Rule| {
        if judge::allows_whole(rule, policy, call) {
            Fit::Covers
        } else if judge::is_about_commands(rule, call.tool)
            && line.is_some_and(|line| line.allows_a_part(rule))
        {
            let alone = line.is_some_and(|line| {
                let only = line.allowed_by(&[rule], policy, call.paths);
                only.is_some_and(|rules| !rules.is_empty())
            });
            if alone { Fit::Covers } else { Fit::Part }
        } else {
            miss(rule, call)
        }
    };
    let mut considered = Vec::new();
    let mut take = |rule: &Rule, behavior, fit| {
        considered.push(Considered {
            decides: fit != Fit::Untrusted && decides(&decision, rule, behavior),
            name: RuleName::from(rule),
            behavior,
            fit,
        });
    };
    for rule in policy.deny_rules() {
        take(rule, Behavior::Deny, guard(rule));
    }
    for rule in &policy.rules.ask {
        take(rule, Behavior::Ask, guard(rule));
    }
    for rule in &policy.rules.allow {
        take(rule, Behavior::Allow, allow(rule));
    }
    for rule in &policy.rules.untrusted {
        let fit = match allow(rule) {
            Fit::Covers | Fit::Part => Fit::Untrusted,
            fit => fit,
        };
        take(rule, Behavior::Allow, fit);
    }
    Explanation {
        tool: call.tool.name.clone(),
        considered,
        mode: policy.mode(),
        would_allow: suggest::suggestions(policy, call, &decision),
        decision,
    }
}

fn miss(rule: &Rule, call: CallFacts<'_>) -> Fit {
    let by_paths = rule.file_pattern().is_some() && !call.paths.is_empty();
    if by_paths || rule.names_tool(&call.tool.name) {
        Fit::OtherCall
    } else {
        Fit::OtherTool
    }
}

fn decides(decision: &Decision, rule: &Rule, behavior: Behavior) -> bool {
    let fitting = match decision.verdict {
        Verdict::Allow => behavior == Behavior::Allow,
        // A deny rule that may apply leads to a permission request; an ask rule denies if nobody may be asked.
        Verdict::Ask | Verdict::Deny => behavior != Behavior::Allow,
    };
    fitting
        && match &decision.cause {
            Cause::Rules(names) => names.contains(&RuleName::from(rule)),
            Cause::ClosedFile(name) => *name == RuleName::from(rule),
            _ => false,
        }
}

impl fmt::Display for Explanation {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let verdict = match self.decision.verdict {
            Verdict::Allow => "runs",
            Verdict::Ask => "is asked about",
            Verdict::Deny => "is denied",
        };
        writeln!(
            f,
            "{} {verdict}: {}.",
            self.tool,
            self.decision.cause.explain()
        )?;
        for rule in &self.considered {
            let mark = if rule.decides { "→" } else { " " };
            let behavior = rule.behavior.name();
            writeln!(f, "{mark} {behavior:5} {}: {}", rule.name, rule.fit.words())?;
        }
        writeln!(f, "  mode  {}", self.mode.name())?;
        for update in &self.would_allow {
            writeln!(f, "It would run with {}.", words_of(update))?;
        }
        Ok(())
    }
}

fn words_of(update: &PermissionUpdate) -> String {
    match update {
        PermissionUpdate::AddRules(change)
        | PermissionUpdate::ReplaceRules(change)
        | PermissionUpdate::RemoveRules(change) => {
            let rules: Vec<String> = change.rules.iter().map(ToString::to_string).collect();
            format!("the {} rule {}", change.behavior.name(), rules.join(", "))
        }
        PermissionUpdate::SetMode { mode, .. } => format!("the mode {}", mode.name()),
        PermissionUpdate::AddDirectories(change) | PermissionUpdate::RemoveDirectories(change) => {
            format!("the directory {}", change.directories.join(", "))
        }
    }
}
