//! Restrictions of subagents: a subagent has the permissions of the session or fewer, never more.

use alloc::{string::String, vec::Vec};

use super::{Mode, Rule, RuleError, Rules, Source, tool_name};

/// The restrictions of a subagent relative to its parent.
///
/// Nothing here can widen permissions: the session's rules also apply, the tools are a subset, and the mode counts only if it is
/// more restrictive.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Narrowing {
    /// The tools it has; none means those of the parent.
    pub tools: Option<Vec<String>>,
    /// Additional deny rules.
    pub deny: Vec<Rule>,
    /// The requested mode.
    pub mode: Option<Mode>,
}

impl Narrowing {
    /// The restrictions in an agent definition (Agent SDK reference, `AgentDefinition`): `tools`, `disallowedTools`, and the
    /// mode.
    ///
    /// # Errors
    /// [`RuleError`] for an entry of `disallowed` that is not a valid rule.
    pub fn of_agent(
        tools: Option<&[String]>,
        disallowed: &[String],
        mode: Option<Mode>,
    ) -> Result<Self, RuleError> {
        let deny = disallowed
            .iter()
            .map(|text| Rule::parse(text).map(|rule| rule.from_source(Source::Agent)));
        Ok(Self {
            tools: tools.map(<[String]>::to_vec),
            deny: deny.collect::<Result<_, _>>()?,
            mode,
        })
    }

    /// Combines these restrictions with those of a subagent below: both apply.
    #[must_use]
    pub fn further(&self, below: &Self) -> Self {
        let tools = match (&self.tools, &below.tools) {
            (Some(above), Some(below)) => Some(
                below
                    .iter()
                    .filter(|tool| above.iter().any(|known| tool_name::same(known, tool)))
                    .cloned()
                    .collect(),
            ),
            (above, below) => below.clone().or_else(|| above.clone()),
        };
        let mut deny = self.deny.clone();
        deny.extend(below.deny.iter().cloned());
        let mode = match (self.mode, below.mode) {
            (Some(above), Some(below)) => Some(narrower(above, below)),
            (above, below) => below.or(above),
        };
        Self { tools, deny, mode }
    }

    /// Whether the subagent gets a tool of the session.
    #[must_use]
    pub fn offers(&self, tool: &str) -> bool {
        let listed = self.tools.as_ref().is_none_or(|tools| {
            tools
                .iter()
                .any(|known| known == "*" || tool_name::is_listed(known, tool))
        });
        let closed = Rules {
            deny: self.deny.clone(),
            ..Rules::default()
        };
        listed && !closed.denies_tool(tool)
    }

    /// The subagent's mode, given the session's mode.
    #[must_use]
    pub fn mode_under(&self, session: Mode) -> Mode {
        self.mode.map_or(session, |mode| narrower(session, mode))
    }
}

/// The mode of a subagent that requests `wanted` below `above`: the requested one if it allows nothing that the other does not.
fn narrower(above: Mode, wanted: Mode) -> Mode {
    let allows_no_more = match above {
        Mode::BypassPermissions => true,
        Mode::AcceptEdits | Mode::Auto => wanted != Mode::BypassPermissions,
        Mode::Default => matches!(wanted, Mode::Default | Mode::Plan | Mode::DontAsk),
        // Plan mode asks where dontAsk denies; dontAsk runs allowed calls that plan mode does not.
        Mode::Plan | Mode::DontAsk => wanted == above,
    };
    if allows_no_more { wanted } else { above }
}
