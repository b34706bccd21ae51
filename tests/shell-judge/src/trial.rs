//! A line is judged, run in each of its forms, and looked at.

use std::{
    fmt, io,
    panic::{AssertUnwindSafe, catch_unwind},
};

use crate::{
    compare::difference,
    lines::Line,
    reading::{Form, Reading},
    run::{Outcome, Ran, reap_strays, run, run_as_written},
    stage::Stage,
};

/// Programs of a pipeline write in any order, and one may be gone before another has written: what differs must differ
/// so often in a row.
const TRIES: usize = 6;

/// What came of trying a line.
#[derive(Debug)]
pub enum Tried {
    /// Somebody would be asked.
    Asked,
    /// It passed, and only did what was judged.
    Held,
    /// It passed, and something is wrong.
    Faulty(Fault),
}

/// What is wrong with a line that passed.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Fault {
    /// A program ran that was not judged.
    Ran {
        /// The form that ran.
        form: String,
        /// The program.
        ran: Ran,
    },
    /// A file was changed that was not judged.
    Wrote {
        /// The form that ran.
        form: String,
        /// The file.
        path: String,
    },
    /// It did not come to what bash makes of the text.
    Differs {
        /// The form that ran.
        form: String,
        /// What differs.
        what: &'static str,
        /// What bash makes of it.
        bash: String,
        /// What came of the form.
        here: String,
    },
    /// Judging or running it failed.
    Failed(String),
}

impl Fault {
    /// The same kind of fault, whatever the line.
    #[must_use]
    pub fn is_like(&self, other: &Self) -> bool {
        match (self, other) {
            (Self::Differs { what, .. }, Self::Differs { what: other, .. }) => what == other,
            _ => std::mem::discriminant(self) == std::mem::discriminant(other),
        }
    }

    /// Whether something happened that was not judged.
    #[must_use]
    pub fn is_breach(&self) -> bool {
        matches!(self, Self::Ran { .. } | Self::Wrote { .. })
    }
}

impl fmt::Display for Fault {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Ran { form, ran } => write!(f, "not judged, but ran: {ran}\n    {form}"),
            Self::Wrote { form, path } => write!(f, "not judged, but written: {path}\n    {form}"),
            Self::Differs {
                form,
                what,
                bash,
                here,
            } => {
                write!(
                    f,
                    "another {what}\n    {form}\n    bash: {bash}\n    here: {here}"
                )
            }
            Self::Failed(message) => write!(f, "failed: {message}"),
        }
    }
}

/// Judges a line and runs it if it passes.
///
/// # Errors
/// When the stage cannot be used.
pub fn try_line(line: &Line, reading: &dyn Reading, stage: &Stage) -> io::Result<Tried> {
    let tried = try_forms(line, reading, stage)?;
    // These start programs in a process group of their own, which a process substitution may leave behind.
    let leaves_group = ["timeout", "setsid"]
        .iter()
        .any(|name| line.text.contains(name));
    if leaves_group {
        reap_strays(stage);
        stage.ran()?;
        stage.changes()?;
    }
    Ok(tried)
}

fn try_forms(line: &Line, reading: &dyn Reading, stage: &Stage) -> io::Result<Tried> {
    let passes = catch_unwind(AssertUnwindSafe(|| {
        reading.passes(&line.text, &line.permissions, stage)
    }));
    let forms = match passes {
        Ok(Some(forms)) => forms,
        Ok(None) => return Ok(Tried::Asked),
        Err(_) => {
            return Ok(Tried::Faulty(Fault::Failed(
                "judging it panicked".to_owned(),
            )));
        }
    };
    let mut outcomes = Vec::new();
    for form in &forms {
        let outcome = match run(form, stage) {
            Ok(outcome) => outcome,
            Err(error) if !form.is_printed() => {
                return Ok(Tried::Faulty(Fault::Failed(error.to_string())));
            }
            Err(error) => return Err(error),
        };
        if let Some(fault) = breach(line, form, &outcome) {
            return Ok(Tried::Faulty(fault));
        }
        outcomes.push(outcome);
    }
    if !reading.promises_same_result() || !line.permissions.forbidden.is_empty() {
        return Ok(Tried::Held);
    }
    let mut bash = run_as_written(&line.text, stage)?;
    for (form, mut outcome) in forms.iter().zip(outcomes) {
        let mut tries = 1;
        while let Some(fault) = difference(line, stage, form, &bash, &outcome) {
            if tries == TRIES {
                return Ok(Tried::Faulty(fault));
            }
            tries += 1;
            bash = run_as_written(&line.text, stage)?;
            outcome = run(form, stage)?;
        }
    }
    Ok(Tried::Held)
}

/// What happened that the permissions do not let happen.
fn breach(line: &Line, form: &Form, outcome: &Outcome) -> Option<Fault> {
    let form = || form.label.clone();
    if let Some(ran) = outcome.ran.iter().find(|ran| !line.permissions.cover(ran)) {
        let ran = ran.clone();
        return Some(Fault::Ran { form: form(), ran });
    }
    // What `find` does to files is its rule's business.
    let finds = line.permissions.commands.contains(&"find");
    let mut changed = outcome.files.keys();
    let path = changed.find(|path| !finds && !line.permissions.may_write(path))?;
    let path = path.clone();
    Some(Fault::Wrote { form: form(), path })
}
