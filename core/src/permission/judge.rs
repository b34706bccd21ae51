//! The permission decision, in this order: hooks that deny, deny rules, ask rules, hooks that allow, allow rules, the mode, a
//! permission request.

use alloc::{format, string::ToString, vec::Vec};

use super::{
    Behavior, CallFacts, Cause, CommandLine, Decision, HookVerdict, Mode, PathFact, PolicyContext,
    Rule, RuleName, Scope, Specifier, Verdict, authority,
    command::RuleMatch,
    command_place::{Place, place},
    glob, grant, path_pattern, tool_name,
};
use crate::{
    permission::Consent,
    tool::{Access, ToolDefinition},
};

/// Decides about a call. Pure: the same arguments give the same decision.
#[must_use]
pub fn judge(
    policy: &PolicyContext<'_>,
    call: CallFacts<'_>,
    hook: Option<&HookVerdict>,
) -> Decision {
    as_judged_where_words_decide(decided(policy, call, hook), policy, call)
}

/// A line that was approved as a whole runs as written, so that the expansion of a word may become an action of `find` that runs
/// anything. If deny or ask rules for commands exist, the line runs as a plan instead, in which such a word cannot be an option.
/// If it cannot run as a plan, permission is needed.
fn as_judged_where_words_decide(
    decision: Decision,
    policy: &PolicyContext<'_>,
    call: CallFacts<'_>,
) -> Decision {
    let (Verdict::Allow, Scope::Whole, Some(line)) =
        (decision.verdict, decision.scope, call.command)
    else {
        return decision;
    };
    let mut guards = policy.rules.ask.iter().chain(policy.deny_rules());
    if !line.searches_by_what_is_expanded()
        || !guards.any(|rule| is_about_commands(rule, call.tool))
    {
        return decision;
    }
    match line.obstacle() {
        None => Decision {
            scope: Scope::Parts,
            ..decision
        },
        Some(why) => Decision {
            verdict: asking(policy.mode()),
            cause: Cause::UnreadCommand(why.to_string()),
            scope: Scope::Whole,
        },
    }
}

/// An ask rule overrides a mode that would not ask; a mode that never asks denies.
fn asking(mode: Mode) -> Verdict {
    match mode {
        Mode::DontAsk => Verdict::Deny,
        _ => Verdict::Ask,
    }
}

fn decided(
    policy: &PolicyContext<'_>,
    call: CallFacts<'_>,
    hook: Option<&HookVerdict>,
) -> Decision {
    let decide = |verdict, cause| Decision {
        verdict,
        cause,
        scope: Scope::Whole,
    };
    let mode = policy.mode();
    let by_hook = |behavior| {
        let hook = hook.filter(|hook| hook.behavior == behavior)?;
        Some(Cause::Hook(hook.reason.clone()))
    };
    if let Some(cause) = by_hook(Behavior::Deny) {
        return decide(Verdict::Deny, cause);
    }
    let found = |rule: &Rule| rule_match(rule, policy, call);
    if let Some(rule) = policy.deny_rules().find(|r| found(r) == RuleMatch::Yes) {
        return decide(Verdict::Deny, Cause::rule(rule));
    }
    if let Some(path) = grant::path_beyond(policy, call) {
        return decide(Verdict::Deny, Cause::NotGranted(path));
    }
    let place = place(policy, call);
    if place == Place::AskedOutside && policy.confinement.is_some_and(|it| !it.allow_outside) {
        return decide(Verdict::Deny, Cause::StaysConfined);
    }
    let ask = asking(mode);
    if call.consent == Consent::Person {
        // No rule and no mode can answer for a person; in a mode that never asks there is no answer.
        return match by_hook(Behavior::Allow) {
            Some(cause) => decide(Verdict::Allow, cause),
            None if mode == Mode::DontAsk => decide(Verdict::Deny, Cause::Mode(mode)),
            None => decide(Verdict::Ask, Cause::AsksThePerson),
        };
    }
    let is_free = call.consent == Consent::Free;
    let changes = !call.tool.annotations.read_only && !is_free;
    if mode == Mode::Plan && changes && !tool_name::only_delegates(&call.tool.name) {
        return decide(Verdict::Deny, Cause::Mode(mode));
    }
    if let Some(cause) = guard(policy, call) {
        return decide(ask, cause);
    }
    if let Some(cause) = by_hook(Behavior::Ask) {
        return decide(ask, cause);
    }
    if let Some(cause) = by_hook(Behavior::Allow) {
        return decide(Verdict::Allow, cause);
    }
    if is_free {
        return decide(Verdict::Allow, Cause::OwnState);
    }
    let allow: Vec<&Rule> = policy.rules.allow.iter().collect();
    let here = PolicyContext {
        left: &[],
        ..*policy
    };
    if let Some((rules, scope)) = allowed_by(&allow, &here, call) {
        let names: Vec<RuleName> = rules.into_iter().map(RuleName::from).collect();
        let cause = match names.is_empty() {
            true => Cause::Mode(mode),
            false => Cause::Rules(names),
        };
        return Decision {
            verdict: Verdict::Allow,
            cause,
            scope,
        };
    }
    if place == Place::Sandbox && policy.confinement.is_some_and(|it| it.auto_allow) {
        return decide(Verdict::Allow, Cause::Confined);
    }
    by_mode(policy, call)
}

/// The reason to ask for permission although a rule or the mode would allow the call.
fn guard(policy: &PolicyContext<'_>, call: CallFacts<'_>) -> Option<Cause> {
    const MANY_NAMES: &str = "it names more files than are looked at";
    let mut guards = policy.rules.ask.iter().chain(policy.deny_rules());
    let concerned = |rule: &&Rule| rule_match(rule, policy, call) != RuleMatch::No;
    if let Some(rule) = guards.clone().find(concerned) {
        return Some(Cause::rule(rule));
    }
    let closes_files = |rule: &Rule| rule.file_pattern().is_some();
    let is_looked_at = || {
        policy.deny_rules().any(closes_files)
            || authority::is_guarded(policy, call) && !authority::is_approved_line(policy, call)
    };
    if let Some(line) = call.command.filter(|line| line.has_too_many_names())
        && is_looked_at()
    {
        let why = line.unread().unwrap_or(MANY_NAMES);
        return Some(Cause::UnreadCommand(why.to_string()));
    }
    if let Some(path) = authority::closed_place(policy, call) {
        return Some(Cause::OwnFile(path));
    }
    if let Some(path) = authority::changed_by(policy, call) {
        return Some(Cause::Authority(path));
    }
    let line = call.command?;
    if let Some(why) = line.unread()
        && guards.any(|rule| is_about_commands(rule, call.tool))
    {
        return Some(Cause::UnreadCommand(why.to_string()));
    }
    if line.names_many_files() && policy.deny_rules().any(closes_files) {
        return Some(Cause::UnreadCommand(MANY_NAMES.to_string()));
    }
    line.names_closed_file(policy)
        .map(|rule| Cause::ClosedFile(RuleName::from(rule)))
}

fn by_mode(policy: &PolicyContext<'_>, call: CallFacts<'_>) -> Decision {
    let decide = |verdict, cause| Decision {
        verdict,
        cause,
        scope: Scope::Whole,
    };
    let mode = policy.mode_for(&call.tool.name);
    if mode == Mode::BypassPermissions {
        return decide(Verdict::Allow, Cause::Mode(mode));
    }
    let outside = call
        .paths
        .iter()
        .find(|fact| !policy.in_workspace(&fact.path));
    // The files named in a command are not all that it may access, and what is sent is no longer inside.
    let is_about_files = call.command.is_none() && !call.tool.may_send();
    let inside = is_about_files && !call.paths.is_empty() && outside.is_none();
    if inside && policy.free_workspace_reads && call.tool.annotations.read_only {
        return decide(Verdict::Allow, Cause::WorkspaceRead);
    }
    let only_speaks = |line: &CommandLine| line.only_speaks(policy, call.paths);
    if policy.free_workspace_reads && call.command.is_some_and(only_speaks) {
        return Decision {
            scope: Scope::Parts,
            ..decide(Verdict::Allow, Cause::OwnState)
        };
    }
    if inside && mode.accepts_edits() && call.tool.edits_files() {
        return decide(Verdict::Allow, Cause::Mode(mode));
    }
    let obstacle = call.command.and_then(CommandLine::obstacle);
    match (mode, outside, obstacle) {
        (Mode::DontAsk, _, _) => decide(Verdict::Deny, Cause::Mode(mode)),
        (_, Some(fact), _) => decide(Verdict::Ask, Cause::OutsideWorkspace(fact.path.clone())),
        (_, None, Some(why)) => decide(Verdict::Ask, Cause::UnreadCommand(why.to_string())),
        (_, None, None) => {
            let unknown = call.command.and_then(CommandLine::file_of_unknown_folder);
            let why = |name| {
                format!(
                    "the folder of `{name}` is not known, as a `cd` before it may fail (`&&` behind `cd` makes it known)"
                )
            };
            let set = call.command.and_then(CommandLine::variable_of_a_command);
            let sets = |name| {
                format!(
                    "it sets the variable {name} for a command, which rules about the command do not allow"
                )
            };
            let why = unknown.map(why).or_else(|| set.map(sets));
            decide(
                Verdict::Ask,
                why.map_or(Cause::NoRule, Cause::UnreadCommand),
            )
        }
    }
}

/// Whether a deny or ask rule applies to a call: one path or one command suffices.
pub(super) fn rule_match(
    rule: &Rule,
    policy: &PolicyContext<'_>,
    call: CallFacts<'_>,
) -> RuleMatch {
    let sure = |yes| if yes { RuleMatch::Yes } else { RuleMatch::No };
    match &rule.specifier {
        Specifier::Path(_) => {
            let Some(pattern) = rule.file_pattern_for(&call.tool.name) else {
                return RuleMatch::No;
            };
            if call.paths.is_empty() {
                return RuleMatch::No;
            }
            let patterns = path_pattern::absolute(rule, pattern, policy);
            // A file that must not be read must not be written either.
            let is_about = |fact: &&PathFact| {
                (fact.access == Access::Write || !rule.is_edit())
                    && patterns.iter().any(|p| glob::covers(p, &fact.path))
            };
            let found: Vec<&PathFact> = call.paths.iter().filter(is_about).collect();
            // Files that are affected as part of a folder need permission.
            match found.iter().any(|fact| !fact.is_brought()) {
                true => RuleMatch::Yes,
                false if found.is_empty() => RuleMatch::No,
                false => RuleMatch::Perhaps,
            }
        }
        Specifier::Any if grant::is_about_files(rule, call) => RuleMatch::Yes,
        _ if !rule.names_tool(&call.tool.name) => RuleMatch::No,
        Specifier::Any => RuleMatch::Yes,
        Specifier::Command(pattern) => {
            (call.command).map_or(RuleMatch::No, |line| line.rule_match(pattern))
        }
        Specifier::Domain(domain) => match call.url.map(|url| domain.covers(url)) {
            None => RuleMatch::No,
            // The host of the URL is unknown: it may be this domain.
            Some(None) => RuleMatch::Perhaps,
            Some(Some(yes)) => sure(yes),
        },
        Specifier::Name(pattern) => sure(call.name.is_some_and(|name| pattern.covers(name))),
    }
}

/// The rules that allow a call: all its paths, or all its commands, must be covered. Empty if the mode alone allows all commands
/// of a line.
fn allowed_by<'r>(
    rules: &[&'r Rule],
    policy: &PolicyContext<'_>,
    call: CallFacts<'_>,
) -> Option<(Vec<&'r Rule>, Scope)> {
    let whole = |rule: &&&Rule| allows_whole(rule, policy, call);
    if let Some(rule) = rules.iter().find(whole) {
        return Some((alloc::vec![*rule], Scope::Whole));
    }
    let concerning: Vec<&Rule> = rules
        .iter()
        .copied()
        .filter(|rule| is_about_commands(rule, call.tool) || rule.is_edit() || rule.is_read())
        .collect();
    let parts = call.command?.allowed_by(&concerning, policy, call.paths)?;
    Some((parts, Scope::Parts))
}

/// Whether a rule by itself allows a whole call.
pub(super) fn allows_whole(rule: &Rule, policy: &PolicyContext<'_>, call: CallFacts<'_>) -> bool {
    if let Some(pattern) = rule.file_pattern_for(&call.tool.name) {
        if call.tool.may_send() && !rule.names_tool(&call.tool.name) {
            return false; // a rule for reading says nothing about sending
        }
        let is_meant = |access| match access {
            Access::Read => !rule.is_edit(),
            // A rule of the tool itself allows whatever the tool does with the file.
            Access::Write => !rule.is_read(),
        };
        let patterns = path_pattern::absolute(rule, pattern, policy);
        // A search names the directory itself, in which all may be read.
        let is_own = call.tool.grant.is_some() && rule.names_tool(&call.tool.name);
        let covers = |pattern: &str, fact: &PathFact| {
            glob::covers(pattern, &fact.path)
                || (fact.access == Access::Read || is_own) && glob::is_all_of(pattern, &fact.path)
        };
        let covered = |fact: &PathFact| {
            is_meant(fact.access) && patterns.iter().any(|pattern| covers(pattern, fact))
        };
        return call.command.is_none() && !call.paths.is_empty() && call.paths.iter().all(covered);
    }
    rule.names_tool(&call.tool.name)
        && match &rule.specifier {
            Specifier::Any => true,
            Specifier::Command(_) => {
                (call.command).is_some_and(|line| line.is_allowed_line(rule, policy))
            }
            Specifier::Domain(domain) => {
                call.url.is_some_and(|url| domain.covers(url) == Some(true))
            }
            Specifier::Name(pattern) => call.name.is_some_and(|name| pattern.covers(name)),
            Specifier::Path(_) => false,
        }
}

pub(super) fn is_about_commands(rule: &Rule, tool: &ToolDefinition) -> bool {
    matches!(rule.specifier, Specifier::Command(_)) && rule.names_tool(&tool.name)
}
