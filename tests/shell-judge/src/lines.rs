//! Lines by seed.

use crate::{
    classes::{CLASSES, Class, Detect},
    dice::Dice,
    grammar::Grammar,
    mutate::mutate,
    permissions::{ALL, Permissions},
};

/// A command line with the permissions that it is judged by.
#[derive(Debug, Clone)]
pub struct Line {
    /// What it was generated from.
    pub seed: u64,
    /// The permissions.
    pub permissions: Permissions,
    /// The line.
    pub text: String,
}

/// In so many of a hundred lines, one is a variant of a class that once got through.
const OF_CLASSES: usize = 6;

/// So many of a hundred lines are made of what is usual alone.
const PLAIN: usize = 60;

/// So many of a hundred of all lines are changed somewhere.
const CHANGED: usize = 28;

/// The line of a seed.
#[must_use]
pub fn generate(seed: u64) -> Line {
    let mut dice = Dice::new(seed);
    if dice.percent(OF_CLASSES) {
        return variant(seed, &mut dice);
    }
    let permissions = dice.pick(&ALL);
    fresh(seed, permissions, &mut dice)
}

/// The line of a seed for these permissions.
#[must_use]
pub fn generate_for(permissions: Permissions, seed: u64) -> Line {
    let mut dice = Dice::new(seed);
    if dice.percent(OF_CLASSES) {
        return Line {
            permissions,
            ..variant(seed, &mut dice)
        };
    }
    fresh(seed, permissions, &mut dice)
}

fn fresh(seed: u64, permissions: Permissions, dice: &mut Dice) -> Line {
    let plain = dice.percent(PLAIN);
    let mut text = Grammar::new(dice, &permissions, plain).line();
    if dice.percent(CHANGED) {
        text = mutate(&text, dice);
    }
    Line {
        seed,
        permissions,
        text,
    }
}

fn variant(seed: u64, dice: &mut Dice) -> Line {
    let of: Vec<&Class> = CLASSES
        .iter()
        .filter(|class| class.detect == Detect::Runs)
        .collect();
    let class = dice.pick(&of);
    let (name, text) = dice.pick(class.lines);
    // The table has no other names.
    let permissions = Permissions::named(name).unwrap_or(ALL[0]);
    let mut text = text.to_owned();
    if dice.percent(40) {
        // Amid other commands.
        let mut grammar = Grammar::new(dice, &permissions, true);
        let (before, behind) = (grammar.line(), grammar.line());
        text = format!("{before}\n{text}\n{behind}");
    }
    if dice.percent(70) {
        text = mutate(&text, dice);
    }
    Line {
        seed,
        permissions,
        text,
    }
}
