//! The person at the terminal: questions and typed answers.

use std::{
    io::{self, BufRead as _, Write as _},
    thread,
    time::Instant,
};

use anstream::eprint;
use tokio::sync::mpsc;
use windlass::engine::Brought;
use windlass_core::{
    effect::PermissionResponse, permission::PermissionUpdate,
    tools::ask_user_question::AskUserQuestionInput,
};

use super::{
    choices, os,
    question::{Question, lasting, refusal, text, understand, ways},
    styles::ASKING,
    terminal::Stage,
    trust_question::TrustQuestion,
};

/// The assumed width of a terminal that does not report it, in columns.
const USUAL_COLUMNS: usize = 80;

/// The person at the terminal.
#[derive(Debug, Default)]
pub(crate) struct Person {
    /// Typed lines; the first question starts the thread that reads them.
    lines: Option<mpsc::UnboundedReceiver<(Instant, String)>>,
    /// Rules accepted with "always".
    always: Vec<PermissionUpdate>,
}

impl Person {
    /// Asks whether the files of this folder may do what they declare.
    pub(crate) async fn trusts(&mut self, folder: &str, files: &[Brought]) -> bool {
        let question = TrustQuestion::about(folder, files);
        eprint!("{}", question.text());
        os::discard_typed_ahead();
        let asked_at = Instant::now();
        let lines = self.lines.get_or_insert_with(read_lines);
        loop {
            eprint!("{}", question.ways());
            let _ = io::stderr().flush(); // a terminal that is gone is noticed when reading from it
            let line = answer_after(asked_at, lines).await.unwrap_or_default();
            match line.trim().to_ascii_lowercase().as_str() {
                "y" | "yes" => return true,
                "n" | "no" | "" => return false,
                "a" | "all" => eprint!("{}", question.whole()),
                _ => eprint!("  Please answer with one of the letters.\n"),
            }
        }
    }

    /// Waits for the next prompt, after printing a prompt mark; `None` at the end of the input.
    pub(crate) async fn prompt(&mut self, mut with_mark: bool) -> Option<String> {
        let lines = self.lines.get_or_insert_with(read_lines);
        loop {
            if std::mem::replace(&mut with_mark, true) {
                eprint!("{ASKING}> {ASKING:#}");
                let _ = io::stderr().flush(); // a terminal that is gone is noticed when reading from it
            }
            let Some((_, line)) = lines.recv().await else {
                eprint!("\n");
                return None;
            };
            if !line.trim().is_empty() {
                return Some(line);
            }
        }
    }

    /// Asks the model's questions one after another; `None` at the end of the input.
    async fn choose(&mut self, asked: AskUserQuestionInput) -> Option<PermissionResponse> {
        let mut answers = Vec::new();
        for question in &asked.questions {
            eprint!("{}", choices::text(question));
            os::discard_typed_ahead();
            let asked_at = Instant::now();
            let lines = self.lines.get_or_insert_with(read_lines);
            let answer = loop {
                eprint!("{}", choices::ways(question));
                let _ = io::stderr().flush(); // a terminal that is gone is noticed when reading from it
                let line = answer_after(asked_at, lines).await?;
                if let Some(answer) = choices::understand(&line, question) {
                    break answer;
                }
            };
            answers.push(answer);
        }
        Some(choices::answered(asked, answers))
    }

    /// Asks and sends the answer. A question that is dropped half-way is denied.
    pub(crate) async fn ask(&mut self, question: Question) {
        let Question {
            request,
            mut answer,
        } = question;
        if let Some(asked) = choices::questions(&request) {
            let response = tokio::select! {
                response = self.choose(asked) => response,
                // The run was interrupted, so nobody waits for the answer.
                () = answer.closed() => {
                    eprint!("\n");
                    return;
                }
            };
            let _ = answer
                .send(response.unwrap_or_else(|| PermissionResponse::deny(refusal(&request))));
            return;
        }
        if lasting(&request).is_some_and(|change| self.always.contains(&change)) {
            // A rule may not match the call it was suggested for (a command with quotes), but the person was asked already.
            let _ = answer.send(PermissionResponse::allow());
            return;
        }
        let columns = Stage::stderr().columns().unwrap_or(USUAL_COLUMNS);
        eprint!("{}", text(&request, columns));
        os::discard_typed_ahead();
        let asked_at = Instant::now();
        let lines = self.lines.get_or_insert_with(read_lines);
        let response = loop {
            eprint!("{}", ways(&request));
            let _ = io::stderr().flush(); // a terminal that is gone is noticed when reading from it
            let line = tokio::select! {
                line = answer_after(asked_at, lines) => line,
                // The run was interrupted, so nobody waits for the answer.
                () = answer.closed() => {
                    eprint!("\n");
                    return;
                }
            };
            match line.as_deref().map(|line| understand(line, &request)) {
                Some(Some(response)) => break response,
                Some(None) => eprint!("  Please answer with one of the letters.\n"),
                None => {
                    eprint!("\n");
                    break PermissionResponse::deny(refusal(&request));
                }
            }
        };
        if let PermissionResponse::Allow {
            updated_permissions,
            ..
        } = &response
        {
            self.always.extend(updated_permissions.iter().cloned());
        }
        // The receiver may be gone; then nothing runs.
        let _ = answer.send(response);
    }
}

/// The next line typed after the question was shown; `None` at the end of input.
async fn answer_after(
    asked_at: Instant,
    lines: &mut mpsc::UnboundedReceiver<(Instant, String)>,
) -> Option<String> {
    loop {
        let (read_at, line) = lines.recv().await?;
        if read_at >= asked_at {
            return Some(line);
        }
    }
}

/// Lines of standard input with the time they were read, from a separate thread, because a blocking read cannot be cancelled.
fn read_lines() -> mpsc::UnboundedReceiver<(Instant, String)> {
    let (sender, receiver) = mpsc::unbounded_channel();
    thread::spawn(move || {
        for line in io::stdin().lock().lines() {
            let Ok(line) = line else { break };
            if sender.send((Instant::now(), line)).is_err() {
                break;
            }
        }
    });
    receiver
}
