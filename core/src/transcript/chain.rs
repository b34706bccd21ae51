//! The chain of lines that leads to the last one.

use alloc::{
    collections::{BTreeMap, BTreeSet},
    string::String,
    vec::Vec,
};

use super::{Line, repair};
use crate::{content::Block, history::Role, id::Uuid, json::RawJson};

/// The lines of a file, linked to their predecessors.
pub(super) struct Chain<'a> {
    lines: &'a [Line],
    by_id: BTreeMap<Uuid, usize>,
    /// Whether lines name their predecessors; otherwise each line follows the one before it.
    is_linked: bool,
    /// For each line, the nearest predecessor that contains a message.
    said_before: Vec<Option<usize>>,
}

impl<'a> Chain<'a> {
    pub(super) fn of(lines: &'a [Line]) -> Self {
        let ids = lines.iter().enumerate();
        // (Collecting them would pull in a sort algorithm, which nothing else on a web page needs.)
        let mut by_id = BTreeMap::new();
        by_id.extend(ids.filter_map(|(at, line)| Some((line.uuid?, at))));
        // Each is computed from the lines above, so that a long run of lines without messages is traversed once.
        let mut said_before: Vec<Option<usize>> = Vec::with_capacity(lines.len());
        for (at, line) in lines.iter().enumerate() {
            let up = line.parent.and_then(|up| by_id.get(&up).copied());
            // A predecessor further down is ignored: no writer produces that order.
            said_before.push(match up.filter(|up| *up < at) {
                Some(up) if lines[up].message.is_some() => Some(up),
                Some(up) => said_before[up],
                None => None,
            });
        }
        Self {
            said_before,
            lines,
            by_id,
            is_linked: lines.iter().any(|line| line.has_parent),
        }
    }

    /// The lines that lead to this one, in the order of the file: its ancestors, other parts of their responses, and the results
    /// of their calls.
    pub(super) fn to(&self, last: usize) -> Vec<usize> {
        if !self.is_linked {
            return (0..=last).filter(|at| self.belongs(*at)).collect();
        }
        let mut chain = self.ancestors(last);
        let mut calls: BTreeSet<String> = BTreeSet::new();
        for at in &chain {
            calls.extend(self.calls_of(*at));
        }
        // Results on the chain itself take precedence over those of other branches for the same calls.
        let mut answered: BTreeSet<String> = BTreeSet::new();
        for message in (chain.iter()).filter_map(|at| self.lines[*at].message.as_ref()) {
            answered.extend(message.content.iter().filter_map(repair::result_of));
        }
        for at in (0..self.lines.len()).filter(|at| self.belongs(*at)) {
            // Anything else belongs to an abandoned branch, even if it contains the same ids.
            let hangs = self.said_before(at).is_some_and(|up| chain.contains(&up));
            if !hangs || chain.contains(&at) {
                continue;
            }
            let joins = match &self.lines[at].message {
                Some(message) if message.role == Role::User => {
                    message.content.iter().any(|block| {
                        repair::result_of(block)
                            .is_some_and(|call| calls.contains(&call) && !answered.contains(&call))
                    })
                }
                _ => self.continues_response(at),
            };
            if joins {
                chain.insert(at);
                calls.extend(self.calls_of(at));
            }
        }
        chain.into_iter().collect()
    }

    /// Whether a line is a further part of the response that the line before it is part of. A response with the same id after
    /// results is a different one: not every server gives each response its own id.
    pub(super) fn continues_response(&self, at: usize) -> bool {
        let message = |at: usize| self.lines[at].message.as_ref();
        let Some(this) = message(at).filter(|message| message.role == Role::Assistant) else {
            return false;
        };
        if !self.is_linked {
            return true;
        }
        let before = self.said_before(at).and_then(message);
        before.is_some_and(|before| before.role == Role::Assistant && before.id == this.id)
    }

    fn ancestors(&self, last: usize) -> BTreeSet<usize> {
        let mut chain = BTreeSet::new();
        let mut next = Some(last);
        while let Some(at) = next.filter(|at| chain.insert(*at)) {
            next = self.lines[at].parent.and_then(|up| {
                // A parent that is not in the file was lost; the line before takes its place.
                let known = self.by_id.get(&up).copied();
                known.or_else(|| (0..at).rev().find(|at| self.belongs(*at)))
            });
        }
        chain
    }

    /// The nearest predecessor of a line that contains a message.
    fn said_before(&self, at: usize) -> Option<usize> {
        self.said_before[at]
    }

    fn belongs(&self, at: usize) -> bool {
        !self.lines[at].is_aside && self.lines[at].message.is_some()
    }

    fn calls_of(&self, at: usize) -> impl Iterator<Item = String> {
        let message = self.lines[at].message.as_ref();
        let response = message.filter(|message| message.role == Role::Assistant);
        response
            .into_iter()
            .flat_map(|message| message.content.iter().filter_map(call_id))
    }
}

fn call_id(block: &RawJson) -> Option<String> {
    match Block::from_raw(block.clone()) {
        Block::ToolUse(call) => Some(call.id),
        _ => None,
    }
}
