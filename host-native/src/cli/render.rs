//! Renders messages as text for people: a pure function of the messages and their times of arrival.
//!
//! The text contains ANSI styles; the writer strips them if they are not wanted.

mod stream;

use std::{borrow::Cow, fmt::Write as _};

use windlass_core::{
    Message, RawJson,
    json::RawObject,
    message::{
        ApiRetry, AssistantMessage, Init, ResultMessage, ResultSubtype, SystemMessage, UserMessage,
    },
    money::Usd,
};

use self::stream::{Piece, TextStream};
use super::{
    call::{failure_in_short, input_in_short, outcome_in_short},
    flow::Flow,
    plain::{clean, duration, fit, grouped, one_line},
    styles::{BAD, BOLD, DIM, GOOD, WARNING},
};

/// The frames of the activity indicator.
const SPINNER: [char; 10] = ['⠋', '⠙', '⠹', '⠸', '⠼', '⠴', '⠦', '⠧', '⠇', '⠏'];
/// The duration of a frame, in milliseconds.
const FRAME_MS: u64 = 100;
/// Tools that only read: their calls run concurrently.
const READING: [&str; 7] = [
    "Read",
    "Glob",
    "Grep",
    "TaskOutput",
    "TodoWrite",
    "WebFetch",
    "WebSearch",
];
/// The width without a terminal, in columns.
const USUAL_COLUMNS: usize = 100;

/// The state of the display.
#[derive(Debug)]
pub(crate) struct Screen {
    cwd: String,
    columns: usize,
    verbose: bool,
    /// Calls without a result, in order.
    calls: Vec<Running>,
    /// Wraps the model's text.
    flow: Flow,
    /// Whether lines about calls were shown last: an empty line separates text from them.
    after_calls: bool,
    /// The text of the response being streamed.
    stream: TextStream,
    /// The id of the response whose text was shown as it came: each of its blocks is a message of its own.
    streamed: Option<String>,
    /// Whether the open text block has shown anything: leading empty lines are omitted.
    inside_block: bool,
    /// Since when the model is being waited for; `None` if it is not.
    waiting_since: Option<u64>,
    /// Whether the model has sent text in this turn.
    has_said: bool,
}

#[derive(Debug)]
struct Running {
    id: String,
    tool: String,
    input: String,
    /// When it started; `None` while it waits for earlier calls.
    since: Option<u64>,
}

impl Screen {
    /// A display. Without a width, text is not wrapped and lines about calls have the default width.
    pub(crate) fn new(columns: Option<usize>, verbose: bool) -> Self {
        let wide_enough = |columns: usize| columns.max(20);
        Self {
            cwd: String::new(),
            columns: columns.map_or(USUAL_COLUMNS, wide_enough),
            verbose,
            calls: Vec::new(),
            flow: Flow::new(columns.map(wide_enough)),
            after_calls: false,
            stream: TextStream::default(),
            streamed: None,
            inside_block: false,
            waiting_since: None,
            has_said: false,
        }
    }

    /// The text for a message; `at` is its time of arrival in milliseconds of any monotonic clock.
    pub(crate) fn show(&mut self, message: &Message, at: u64) -> String {
        let mut out = String::new();
        match message {
            Message::System(SystemMessage::Init(init)) => {
                self.waiting_since = Some(at);
                self.has_said = false;
                self.cwd.clone_from(&init.cwd);
                if self.verbose {
                    self.init(&mut out, init);
                }
            }
            Message::System(SystemMessage::ApiRetry(retry)) => self.retry(&mut out, retry, at),
            Message::StreamEvent(event) if event.parent_tool_use_id.is_none() => {
                let pieces = self.stream.take(&event.event);
                self.pieces(&mut out, pieces);
            }
            Message::Assistant(response) => self.response(&mut out, response, at),
            Message::User(user) => self.tool_results(&mut out, user, at),
            Message::Result(result) => self.result(&mut out, result),
            _ => {}
        }
        out
    }

    /// The current activity in one line, without a line end; `None` while text is arriving.
    pub(crate) fn status(&self, at: u64) -> Option<String> {
        if self.flow.is_inside_line() {
            return None;
        }
        let mut running = self
            .calls
            .iter()
            .filter_map(|call| Some((call, call.since?)));
        let (what, since) = match (running.next(), running.count()) {
            (None, _) if self.stream.is_thinking => ("thinking".to_owned(), self.waiting_since?),
            (None, _) => ("waiting for the model".to_owned(), self.waiting_since?),
            (Some((call, since)), 0) => (format!("{} {}", call.tool, call.input), since),
            (Some((call, since)), more) => (
                format!("{} {} and {more} more", call.tool, call.input),
                since,
            ),
        };
        let elapsed = at.saturating_sub(since);
        // The remainder is less than the number of frames, which fits any integer.
        let frame = SPINNER[(at / FRAME_MS % SPINNER.len() as u64) as usize];
        let what = fit(&what, self.columns.saturating_sub(16)).into_owned();
        Some(format!(
            "{DIM}  {frame} {what} · {} s{DIM:#}",
            elapsed / 1_000
        ))
    }

    /// A permission request for a call was answered: the call runs from now on.
    pub(crate) fn answered(&mut self, tool_use_id: &str, at: u64) {
        let call = self.calls.iter_mut().find(|call| call.id == tool_use_id);
        if let Some(call) = call {
            call.since = Some(at);
        }
    }

    /// Starts the calls that can run, by the engine's rule: calls that only read run concurrently, others one after another.
    fn begin_calls(&mut self, at: u64) {
        let mut only_reading = true;
        for (index, call) in self.calls.iter_mut().enumerate() {
            let reads = READING.contains(&call.tool.as_str());
            if call.since.is_none() && (index == 0 || reads && only_reading) {
                call.since = Some(at);
            }
            only_reading &= reads;
        }
    }

    /// Ends an incomplete line of text before something else is shown.
    pub(crate) fn end_line(&mut self, out: &mut String) {
        self.inside_block = false;
        self.flow.end_line(out);
    }

    fn init(&mut self, out: &mut String, init: &Init) {
        self.line(
            out,
            &format!(
                "{DIM}session {} · {} · mode {} · {}{DIM:#}",
                init.session_id,
                one_line(&init.model),
                init.permission_mode.name(),
                one_line(&init.cwd)
            ),
        );
        self.line(
            out,
            &format!("{DIM}tools {}{DIM:#}", one_line(&init.tools.join(", "))),
        );
    }

    fn retry(&mut self, out: &mut String, retry: &ApiRetry, at: u64) {
        let partial = if self.stream.has_text {
            "; the partial answer does not count"
        } else {
            ""
        };
        self.end_line(out);
        self.line(
            out,
            &format!(
                "  {WARNING}↻{WARNING:#} {}{partial}. Asking again in {} ({} of {}).",
                one_line(retry.message.trim_end_matches('.')),
                duration(retry.retry_delay_ms),
                retry.attempt,
                retry.max_retries,
            ),
        );
        self.after_calls = true;
        self.stream = TextStream::default();
        self.waiting_since = Some(at);
    }

    fn pieces(&mut self, out: &mut String, pieces: Vec<Piece>) {
        for piece in pieces {
            match piece {
                Piece::Text(text) => self.text(out, &text),
                Piece::End => self.end_line(out),
            }
        }
    }

    fn text(&mut self, out: &mut String, text: &str) {
        let text = match self.inside_block {
            true => text,
            false => text.trim_start_matches('\n'),
        };
        if text.is_empty() {
            return;
        }
        self.inside_block = true;
        self.has_said = true;
        if self.after_calls {
            out.push('\n');
            self.after_calls = false;
        }
        self.flow.push(&clean(text), out);
    }

    fn response(&mut self, out: &mut String, response: &AssistantMessage, at: u64) {
        if response.parent_tool_use_id.is_some() {
            return;
        }
        let rest = self.stream.finish();
        self.pieces(out, rest);
        let id = &response.message.id;
        let came = std::mem::take(&mut self.stream).has_text;
        let streamed = came || (!id.is_empty() && self.streamed.as_ref() == Some(id));
        self.streamed = streamed.then(|| id.clone());
        self.waiting_since = None;
        let blocks = response.message.content.iter();
        for block in blocks.filter_map(|block| RawObject::parse(block.get()).ok()) {
            let string = |field: &str| block.get_string(field).unwrap_or_default();
            match string("type").as_str() {
                // The text of a failed response is repeated in the result.
                "text" if !streamed && response.error.is_none() => {
                    self.text(out, &string("text"));
                    self.end_line(out);
                }
                "tool_use" => {
                    let tool = one_line(&string("name"));
                    let input = block
                        .get("input")
                        .map(|input| input_in_short(&tool, input, &self.cwd));
                    self.calls.push(Running {
                        id: string("id"),
                        tool,
                        input: input.unwrap_or_default(),
                        since: None,
                    });
                }
                _ => {}
            }
        }
        self.begin_calls(at);
        self.end_line(out);
    }

    fn tool_results(&mut self, out: &mut String, user: &UserMessage, at: u64) {
        let blocks = user.message.content.iter();
        for block in blocks.filter_map(|block| RawObject::parse(block.get()).ok()) {
            let id = block.get_string("tool_use_id");
            let Some(place) = self
                .calls
                .iter()
                .position(|call| Some(&call.id) == id.as_ref())
            else {
                continue;
            };
            let call = self.calls.remove(place);
            let failed = block
                .get("is_error")
                .is_some_and(|flag| flag.get() == "true");
            let output = user.tool_use_result.as_ref();
            self.end_line(out);
            if failed {
                let text = block.get("content").map(result_text).unwrap_or_default();
                let reason = failure_in_short(&call.tool, output, &text);
                self.call_line(out, &call, false, None, at);
                let reason = fit(&reason, self.columns.saturating_sub(4) * 4).into_owned();
                self.line(out, &format!("    {BAD}{reason}{BAD:#}"));
            } else {
                let outcome = outcome_in_short(&call.tool, output);
                self.call_line(out, &call, true, outcome, at);
            }
            self.after_calls = true;
        }
        if self.calls.is_empty() {
            self.waiting_since = Some(at);
        }
        self.begin_calls(at);
    }

    fn call_line(
        &mut self,
        out: &mut String,
        call: &Running,
        good: bool,
        outcome: Option<String>,
        at: u64,
    ) {
        let mut facts = String::new();
        if let Some(outcome) = outcome.filter(|outcome| !outcome.is_empty()) {
            let _ = write!(facts, " · {}", fit(&outcome, self.columns / 3)); // into a String: cannot fail
        }
        let _ = write!(
            facts,
            " · {}",
            duration(at.saturating_sub(call.since.unwrap_or(at)))
        );
        let tool = fit(&call.tool, self.columns / 3);
        let taken = 5 + tool.chars().count() + facts.chars().count();
        let input = fit(&call.input, self.columns.saturating_sub(taken).max(12)).into_owned();
        let gap = if input.is_empty() { "" } else { " " };
        let (style, sign) = if good { (GOOD, '✓') } else { (BAD, '✗') };
        let line =
            format!("  {style}{sign}{style:#} {BOLD}{tool}{BOLD:#}{gap}{input}{DIM}{facts}{DIM:#}");
        self.line(out, &line);
    }

    fn result(&mut self, out: &mut String, result: &ResultMessage) {
        self.calls.clear();
        self.waiting_since = None;
        self.end_line(out);
        // Text that does not come from the model: of a hook that stopped the prompt, or the answer to a command.
        if let Some(text) =
            (result.result.as_deref()).filter(|_| !self.has_said && !result.is_error)
        {
            self.text(out, text);
            self.end_line(out);
        }
        out.push('\n');
        let usage = &result.usage;
        let (style, sign, verdict) = match result.subtype {
            ResultSubtype::Success if !result.is_error => (GOOD, '✓', Cow::Borrowed("done")),
            // The model server failed: the text says how.
            ResultSubtype::Success => {
                let text = result.result.as_deref().unwrap_or_default();
                (BAD, '✗', Cow::Owned(one_line(text)))
            }
            _ => {
                let errors = result.errors.as_deref().unwrap_or_default().join("; ");
                (BAD, '✗', Cow::Owned(one_line(&errors)))
            }
        };
        self.line(
            out,
            &format!("{style}{sign}{style:#} {BOLD}{verdict}{BOLD:#}"),
        );
        let turns = if result.num_turns == 1 {
            "turn"
        } else {
            "turns"
        };
        let facts = format!(
            "{} {turns} · {} in · {} out · {} cached · {} · {}",
            result.num_turns,
            grouped(
                usage
                    .input_tokens
                    .saturating_add(usage.cache_creation_input_tokens)
            ),
            grouped(usage.output_tokens),
            grouped(usage.cache_read_input_tokens),
            cost(result),
            duration(result.duration_ms),
        );
        self.line(out, &format!("  {DIM}{facts}{DIM:#}"));
        self.after_calls = false;
    }

    fn line(&self, out: &mut String, line: &str) {
        out.push_str(line);
        out.push('\n');
    }
}

/// The cost with four decimals; a model without a price is not shown as free.
fn cost(result: &ResultMessage) -> String {
    if result.total_cost_usd == Usd::default() && result.usage.output_tokens > 0 {
        return "cost unknown".to_owned();
    }
    let hundredths = (result.total_cost_usd.nanos + 50_000) / 100_000;
    format!("${}.{:04}", hundredths / 10_000, hundredths % 10_000)
}

/// The text of a tool result: a string, or the text blocks of an array.
fn result_text(content: &RawJson) -> String {
    if let Ok(text) = content.decode::<String>() {
        return text;
    }
    let blocks: Vec<RawObject> = content.decode().unwrap_or_default();
    let texts = blocks.iter().filter_map(|block| block.get_string("text"));
    texts.collect::<Vec<_>>().join("\n")
}

#[cfg(test)]
mod tests;
