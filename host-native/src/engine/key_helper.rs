//! The command of the settings that prints the key for the model server (`apiKeyHelper`): when it runs, and how long what it printed
//! is used.
//!
//! What it prints is sent to the model server and goes nowhere else: it is taken out of all texts of others, and neither its
//! output nor its errors are shown or logged.

use std::{
    ffi::OsString,
    fmt,
    path::PathBuf,
    sync::{Arc, PoisonError},
    time::Duration,
};

use secrecy::{ExposeSecret as _, SecretString};
use tokio::{sync::Mutex, time::Instant};
use windlass_core::permission::Source;

use crate::redact::Redactor;

/// How long a key is used, in milliseconds, if it is not five minutes.
pub(super) const LASTS_VARIABLE: &str = "CLAUDE_CODE_API_KEY_HELPER_TTL_MS";

/// How long a key is used.
pub(super) const USUAL_LASTS: Duration = Duration::from_mins(5);

/// How long the command may run: it may ask a person for something.
#[cfg(unix)]
const LONGEST_RUN: Duration = Duration::from_mins(1);

/// The longest key, in bytes.
#[cfg(unix)]
const LONGEST_KEY: usize = 64 << 10;

/// What is known of keys beyond the environment: shared by all that one launch starts.
#[derive(Clone, Default)]
pub(super) struct LearnedKeys {
    redactor: Redactor,
    helper: Arc<std::sync::Mutex<Option<Arc<KeyHelper>>>>,
}

impl LearnedKeys {
    /// Removes all keys from texts of others, also those that are learned later.
    pub(super) fn redactor(&self) -> &Redactor {
        &self.redactor
    }

    /// What runs the command. Settings that are read again and name the same have the key that it printed.
    pub(super) fn helper(&self, how: HelperCommand) -> Arc<KeyHelper> {
        // A panic while the lock is held leaves a valid value.
        let mut known = self.helper.lock().unwrap_or_else(PoisonError::into_inner);
        match &*known {
            Some(helper) if *helper.how() == how => Arc::clone(helper),
            _ => {
                let helper = Arc::new(KeyHelper::new(how, self.redactor.clone()));
                Arc::clone(known.insert(helper))
            }
        }
    }
}

impl fmt::Debug for LearnedKeys {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("LearnedKeys")
    }
}

/// A command that prints a key, and the key that it printed last.
pub(super) struct KeyHelper {
    how: HelperCommand,
    /// Learns every key, so that no text of others shows one.
    redactor: Redactor,
    printed: Mutex<Option<Printed>>,
}

/// What is run, and where.
#[derive(Debug, Clone, PartialEq)]
pub(super) struct HelperCommand {
    /// The settings that name it.
    pub(super) source: Source,
    /// A command line for `sh`.
    pub(super) line: String,
    /// The working directory.
    pub(super) directory: PathBuf,
    /// Variables that settings add to the environment.
    pub(super) variables: Vec<(OsString, OsString)>,
    /// How long a key is used.
    pub(super) lasts: Duration,
}

struct Printed {
    key: SecretString,
    until: Instant,
}

/// There is no key from the command.
#[derive(Debug, thiserror::Error)]
#[error(
    "No request was sent: the command of `apiKeyHelper` ({}) {fault}. It runs with `sh -c` in the working directory: run it in a \
     terminal to see why.",
    .source_of_it.words()
)]
pub(super) struct KeyHelperError {
    source_of_it: Source,
    fault: Fault,
}

/// What went wrong. What the command printed is never part of it.
#[derive(Debug, thiserror::Error)]
#[cfg_attr(not(unix), allow(dead_code))]
enum Fault {
    #[error("could not be run: {0}")]
    NotRun(String),
    #[error("failed with exit code {0}")]
    Code(i32),
    #[error("was ended by signal {0}")]
    Signal(i32),
    #[error("did not end within {} seconds", .0.as_secs())]
    OutOfTime(Duration),
    #[error("printed nothing")]
    Nothing,
    #[error("printed something that is no key: a key is one word of at most 64 KiB")]
    NoKey,
}

impl KeyHelper {
    /// Nothing is run before a key is needed.
    pub(super) fn new(how: HelperCommand, redactor: Redactor) -> Self {
        Self {
            how,
            redactor,
            printed: Mutex::default(),
        }
    }

    /// What is run, and where.
    pub(super) fn how(&self) -> &HelperCommand {
        &self.how
    }

    /// The key: the last one, or one that the command prints now.
    ///
    /// # Errors
    /// [`KeyHelperError`]: the command failed, or printed no key.
    pub(super) async fn key(&self) -> Result<SecretString, KeyHelperError> {
        // Requests that come meanwhile wait for the same run.
        let mut printed = self.printed.lock().await;
        match &*printed {
            Some(last) if Instant::now() < last.until => Ok(last.key.clone()),
            _ => self.print(&mut printed).await,
        }
    }

    /// Another key, after a server has refused this one; `None` if the command prints the same again.
    ///
    /// # Errors
    /// [`KeyHelperError`]: the command failed, or printed no key.
    pub(super) async fn after_refusal(
        &self,
        refused: &SecretString,
    ) -> Result<Option<SecretString>, KeyHelperError> {
        let is_refused = |key: &SecretString| key.expose_secret() == refused.expose_secret();
        let mut printed = self.printed.lock().await;
        if let Some(last) = printed.as_ref().filter(|last| !is_refused(&last.key)) {
            // Another request has brought one already.
            return Ok(Some(last.key.clone()));
        }
        let key = self.print(&mut printed).await?;
        Ok(Some(key).filter(|key| !is_refused(key)))
    }

    async fn print(&self, printed: &mut Option<Printed>) -> Result<SecretString, KeyHelperError> {
        *printed = None;
        let run = run(&self.how).await;
        let key = run.and_then(|text| key_in(&text));
        let key = key.map_err(|fault| KeyHelperError {
            source_of_it: self.how.source,
            fault,
        })?;
        self.redactor.learn([&key]);
        let now = Instant::now();
        *printed = Some(Printed {
            key: key.clone(),
            // A time that no clock has is the usual one.
            until: now.checked_add(self.how.lasts).unwrap_or(now + USUAL_LASTS),
        });
        Ok(key)
    }
}

/// The key in what a command printed: one word that a header can carry.
fn key_in(text: &str) -> Result<SecretString, Fault> {
    match text.trim() {
        "" => Err(Fault::Nothing),
        key if key.bytes().all(|byte| byte.is_ascii_graphic()) => Ok(SecretString::from(key)),
        _ => Err(Fault::NoKey),
    }
}

/// Runs the command to its end; what it wrote to standard output. Dropping the future kills it.
#[cfg(unix)]
async fn run(how: &HelperCommand) -> Result<String, Fault> {
    use windlass_core::host::CancelSignal;

    use crate::{
        bash::{
            Exit,
            process::{Job, Listeners},
        },
        sandbox::Spawner,
    };

    let job = Job {
        shell: "sh".as_ref(),
        command: &how.line,
        directory: &how.directory.to_string_lossy(),
        hidden: &[],
        variables: &how.variables,
        input: None,
        max_stdout: LONGEST_KEY,
        save_in: None,
        time: Some(LONGEST_RUN),
        listeners: Listeners::default(),
        spawner: &Spawner::bare(),
        handles: Vec::new(),
    };
    let finished = job.run(CancelSignal::new()).await;
    let finished = finished.map_err(|error| Fault::NotRun(error.to_string()))?;
    match finished.exit {
        // A longer output has a note in it, which is no key.
        Exit::Code(0) => Ok(finished.stdout.shown()),
        Exit::Code(code) => Err(Fault::Code(code)),
        Exit::Signal(signal) => Err(Fault::Signal(signal)),
        Exit::OutOfTime | Exit::Cancelled => Err(Fault::OutOfTime(LONGEST_RUN)),
    }
}

#[cfg(not(unix))]
async fn run(_how: &HelperCommand) -> Result<String, Fault> {
    Err(Fault::NotRun("there is no sh on this system".to_owned()))
}
