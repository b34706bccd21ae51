//! The prompt: from the command line, from standard input, or from both.

use std::{
    io::{self, IsTerminal as _, Read as _},
    sync::mpsc::{self, RecvTimeoutError},
    thread,
    time::Duration,
};

use super::start_error::StartError;

/// The maximum number of bytes read from standard input: more than any model accepts.
const LONGEST: u64 = 10 << 20;
/// How long to wait for input from a pipe if there is also a prompt argument. A program started with an open pipe
/// that nobody writes to must not wait forever.
const PATIENCE: Duration = Duration::from_secs(3);

/// The prompt of the command line followed by piped input, or either alone.
pub(crate) fn read(given: Option<&str>) -> Result<String, StartError> {
    let piped = if io::stdin().is_terminal() {
        None
    } else {
        piped(given.is_some())?
    };
    let prompt = match (given, piped) {
        (Some(given), Some(piped)) => format!("{given}\n\n{piped}"),
        (Some(given), None) => given.to_owned(),
        (None, Some(piped)) => piped,
        (None, None) => String::new(),
    };
    if prompt.trim().is_empty() {
        return Err(StartError::Usage(
            "there is no prompt: give it as an argument (before flags that take several words, or behind --), or pipe \
             it in"
                .to_owned(),
        ));
    }
    Ok(prompt)
}

/// The piped input; `None` if it is empty.
fn piped(is_extra: bool) -> Result<Option<String>, StartError> {
    let (sender, receiver) = mpsc::channel();
    // A separate thread, because a blocking read cannot be cancelled.
    thread::spawn(move || {
        let mut taken = Vec::new();
        let mut input = io::stdin().lock().take(LONGEST + 1);
        let mut first = [0; 4096];
        let read = input.read(&mut first).and_then(|count| {
            taken.extend_from_slice(&first[..count]);
            let _ = sender.send(None); // something came, or the end: from now on it is waited for
            input.read_to_end(&mut taken)
        });
        // The receiver is gone after the timeout.
        let _ = sender.send(Some(read.map(|_| taken)));
    });
    let patience = if is_extra { PATIENCE } else { Duration::MAX };
    let mut news = receiver.recv_timeout(patience);
    if let Ok(None) = news {
        news = receiver.recv().map_err(|_| RecvTimeoutError::Disconnected);
    }
    let bytes = match news {
        Ok(Some(Ok(bytes))) => bytes,
        Ok(Some(Err(error))) => return Err(StartError::StandardInput(error.to_string())),
        Ok(None) | Err(RecvTimeoutError::Disconnected) => {
            return Err(StartError::StandardInput("it could not be read".to_owned()));
        }
        Err(RecvTimeoutError::Timeout) => {
            anstream::eprintln!(
                "windlass: nothing came from standard input within {} s; going on without it (`< /dev/null` avoids the wait)",
                PATIENCE.as_secs()
            );
            return Ok(None);
        }
    };
    if bytes.len() as u64 > LONGEST {
        let limit = LONGEST >> 20;
        return Err(StartError::StandardInput(format!(
            "it is longer than {limit} MiB: write it to a file and name the file in the prompt"
        )));
    }
    let text = String::from_utf8(bytes).map_err(|error| {
        let place = error.utf8_error().valid_up_to();
        StartError::StandardInput(format!("it is not UTF-8 from byte {place} on"))
    })?;
    Ok((!text.trim().is_empty()).then_some(text))
}
