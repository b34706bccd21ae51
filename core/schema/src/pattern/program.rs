//! Patterns compiled to steps.

use alloc::{boxed::Box, sync::Arc, vec::Vec};

use super::{parse::Node, set::CharSet};

/// The maximum number of steps, in which repetitions are expanded; no readable pattern needs more.
const STEP_LIMIT: usize = 10_000;

#[derive(Clone)]
pub(super) struct Program {
    pub(super) steps: Vec<Step>,
}

#[derive(Clone)]
pub(super) enum Step {
    /// Match a character of the set, then go to the next step.
    One(Arc<CharSet>),
    /// Continue there.
    Jump(usize),
    /// Continue at both.
    Split(usize, usize),
    /// The beginning of the text.
    Begin,
    /// The end of the text.
    End,
    /// A word boundary; or, if `inside`, none.
    Boundary { inside: bool },
    /// Look-ahead or look-behind; negated if `negative`.
    Look {
        ahead: bool,
        negative: bool,
        program: Box<Program>,
    },
    /// The end of the pattern.
    Match,
}

impl Program {
    /// Compiles a pattern; none if the program would be too long.
    pub(super) fn of(node: &Node) -> Option<Self> {
        let mut room = STEP_LIMIT;
        Self::within(node, &mut room)
    }

    fn within(node: &Node, room: &mut usize) -> Option<Self> {
        let mut program = Self { steps: Vec::new() };
        program.add(node, room)?;
        program.push(Step::Match, room)?;
        Some(program)
    }

    fn push(&mut self, step: Step, room: &mut usize) -> Option<usize> {
        *room = room.checked_sub(1)?;
        self.steps.push(step);
        Some(self.steps.len() - 1)
    }

    fn add(&mut self, node: &Node, room: &mut usize) -> Option<()> {
        match node {
            Node::One(set) => {
                self.push(Step::One(set.clone()), room)?;
            }
            Node::Begin => {
                self.push(Step::Begin, room)?;
            }
            Node::End => {
                self.push(Step::End, room)?;
            }
            Node::Boundary { inside } => {
                self.push(Step::Boundary { inside: *inside }, room)?;
            }
            Node::Look {
                ahead,
                negative,
                node,
            } => {
                let program = Box::new(Self::within(node, room)?);
                let step = Step::Look {
                    ahead: *ahead,
                    negative: *negative,
                    program,
                };
                self.push(step, room)?;
            }
            Node::All(nodes) => {
                for node in nodes {
                    self.add(node, room)?;
                }
            }
            Node::Any(nodes) => self.add_alternatives(nodes, room)?,
            Node::Repeat { node, min, max } => self.add_repetition(node, *min, *max, room)?,
        }
        Some(())
    }

    fn add_alternatives(&mut self, nodes: &[Node], room: &mut usize) -> Option<()> {
        let mut ends = Vec::new();
        for (i, node) in nodes.iter().enumerate() {
            if i + 1 == nodes.len() {
                self.add(node, room)?;
                break;
            }
            let split = self.push(Step::Jump(0), room)?;
            self.add(node, room)?;
            ends.push(self.push(Step::Jump(0), room)?);
            self.steps[split] = Step::Split(split + 1, self.steps.len());
        }
        let end = self.steps.len();
        for jump in ends {
            self.steps[jump] = Step::Jump(end);
        }
        Some(())
    }

    fn add_repetition(
        &mut self,
        node: &Node,
        min: u32,
        max: Option<u32>,
        room: &mut usize,
    ) -> Option<()> {
        for _ in 0..min {
            // An empty node adds no steps: a large repetition of it must not loop.
            let before = self.steps.len();
            self.add(node, room)?;
            if self.steps.len() == before {
                return Some(());
            }
        }
        let Some(max) = max else {
            let split = self.push(Step::Jump(0), room)?;
            self.add(node, room)?;
            self.push(Step::Jump(split), room)?;
            self.steps[split] = Step::Split(split + 1, self.steps.len());
            return Some(());
        };
        let mut ways_out = Vec::new();
        for _ in min..max {
            ways_out.push(self.push(Step::Jump(0), room)?);
            self.add(node, room)?;
        }
        let end = self.steps.len();
        for split in ways_out {
            self.steps[split] = Step::Split(split + 1, end);
        }
        Some(())
    }
}
