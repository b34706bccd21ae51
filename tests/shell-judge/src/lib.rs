//! Whether what runs is what was judged.
//!
//! Command lines are generated from the grammar that shells have, not from the one that windlass reads, and changed where
//! readers of shell lines are known to err. Each is judged by the permission code. One that passes runs on a [`Stage`],
//! where every program only writes down that it ran: those programs must be among the ones that the rules let run, found
//! where the session looks for programs. And it must come to what bash makes of the same text.

extern crate alloc;

mod classes;
mod compare;
pub mod corpus;
mod deadline;
mod dice;
mod former;
mod grammar;
mod judged;
mod just_bash;
mod lines;
mod many;
mod mutate;
mod permissions;
mod reading;
mod run;
mod shrink;
mod stage;
mod trial;
mod words;

pub use classes::{CLASSES, Class, Detect, written_out};
pub use former::Former;
pub use judged::Judged;
pub use just_bash::JustBash;
pub use lines::{Line, generate, generate_for};
pub use many::{Tally, run_many};
pub use permissions::{ALL, FORBIDDING, Permissions};
pub use reading::{Form, Native, Reading};
pub use run::{Outcome, Ran, Shell};
pub use shrink::shrink;
pub use stage::{Files, Stage};
pub use trial::{Fault, Tried, try_line};

/// The least share of generated lines, in hundredths, that must pass: what is refused shows nothing.
pub const LEAST_PASSING: u64 = 30;
