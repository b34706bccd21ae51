//! Named agents of a tutoring program, with their limits and amounts.

use alloc::{format, string::String, vec::Vec};
use core::ops::RangeInclusive;

/// An agent, by its task.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[non_exhaustive]
pub enum Preset {
    /// Finds the concepts of a topic.
    Topic,
    /// Creates diagnostic questions and parts of a concept.
    Subconcept,
    /// Improves existing material, in several steps.
    Refinement,
    /// Talks with a student.
    Tutor,
    /// Judges a student's answers.
    Grading,
}

impl Preset {
    /// Every preset.
    pub const ALL: [Self; 5] = [
        Self::Topic,
        Self::Subconcept,
        Self::Refinement,
        Self::Tutor,
        Self::Grading,
    ];

    /// The name in events.
    #[must_use]
    pub fn name(self) -> &'static str {
        match self {
            Self::Topic => "topic",
            Self::Subconcept => "subconcept",
            Self::Refinement => "refinement",
            Self::Tutor => "tutor",
            Self::Grading => "grading",
        }
    }

    /// Its limit on rounds of tool calls.
    #[must_use]
    pub fn max_iterations(self) -> u32 {
        match self {
            Self::Topic | Self::Subconcept | Self::Refinement => 15,
            Self::Tutor => 5,
            Self::Grading => 10,
        }
    }

    /// The amounts it should create; `small` for cheap runs.
    #[must_use]
    pub fn amounts(self, small: bool) -> Amounts {
        let none = Amounts::default();
        match (self, small) {
            (Self::Topic, false) => Amounts {
                concepts: Some(6..=10),
                ..none
            },
            (Self::Topic, true) => Amounts {
                concepts: Some(1..=2),
                ..none
            },
            (Self::Subconcept, false) => Amounts {
                questions: Some(5..=10),
                subconcepts: Some(8..=12),
                ..none
            },
            (Self::Subconcept, true) => Amounts {
                questions: Some(2..=3),
                subconcepts: Some(2..=3),
                ..none
            },
            _ => none,
        }
    }
}

/// How many items an agent should create; none for kinds that it does not create.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Amounts {
    /// Concepts of a topic.
    pub concepts: Option<RangeInclusive<u32>>,
    /// Diagnostic questions.
    pub questions: Option<RangeInclusive<u32>>,
    /// Parts of a concept.
    pub subconcepts: Option<RangeInclusive<u32>>,
}

impl Amounts {
    /// The sentence that asks for these amounts; none if there are none.
    #[must_use]
    pub fn instruction(&self) -> Option<String> {
        let parts = [
            (&self.concepts, "concepts"),
            (&self.questions, "questions"),
            (&self.subconcepts, "subconcepts"),
        ];
        let asked: Vec<String> = parts
            .into_iter()
            .filter_map(|(amount, what)| {
                let amount = amount.as_ref()?;
                Some(format!("{} to {} {what}", amount.start(), amount.end()))
            })
            .collect();
        (!asked.is_empty()).then(|| format!("Make {}.", asked.join(" and ")))
    }
}
