//! What an SDK writes, line by line.

use tokio::{
    io::{AsyncRead, AsyncReadExt as _},
    sync::mpsc,
};
use windlass_engine::protocol::{
    inbound::{Inbound, answered_id_in, request_id_in},
    line::{Line, LineReader},
};

use super::{Event, channel::ControlChannel};

/// How much is read at a time.
const PIECE: usize = 64 * 1024;

/// Reads until the input ends. Answers go to whoever asked, everything else to the engine, in its order.
pub(super) async fn read<R: AsyncRead + Unpin>(
    mut input: R,
    channel: ControlChannel,
    events: mpsc::UnboundedSender<Event>,
) {
    let mut lines = LineReader::new();
    let mut piece = vec![0; PIECE];
    let take = |line: Line| {
        let event = match event_of(line) {
            Event::Said(Inbound::Response { id, answer }) => {
                channel.answered(&id, answer);
                return;
            }
            event => event,
        };
        // The engine has ended: nobody listens.
        let _ = events.send(event);
    };
    loop {
        // An input that cannot be read is over.
        let length = input.read(&mut piece).await.unwrap_or(0);
        if length == 0 {
            break;
        }
        lines.push(&piece[..length]).into_iter().for_each(take);
    }
    lines.finish().into_iter().for_each(take);
    let _ = events.send(Event::InputEnded);
}

fn event_of(line: Line) -> Event {
    match line {
        Line::Text(text) => match Inbound::parse(&text) {
            Ok(inbound) => Event::Said(inbound),
            Err(error) => unusable(&text, error.to_string(), error.request_id.clone()),
        },
        Line::Fault(fault) => {
            let request_id = request_id_in(fault.head());
            unusable(fault.head(), fault.to_string(), request_id)
        }
    }
}

/// A line that cannot be used: an answer then, which says so to whoever waits for it, or something to complain about.
fn unusable(line: &str, problem: String, request_id: Option<String>) -> Event {
    match answered_id_in(line) {
        Some(id) => Event::Said(Inbound::Response {
            id,
            answer: Err(problem),
        }),
        None => Event::Unusable {
            problem,
            request_id,
        },
    }
}
