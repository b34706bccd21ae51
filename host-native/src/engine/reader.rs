//! What an SDK writes, line by line.

use tokio::{
    io::{AsyncRead, AsyncReadExt as _},
    sync::mpsc,
};
use windlass_engine::protocol::{
    inbound::{Inbound, request_id_in},
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
            Err(error) => Event::Unusable {
                problem: error.to_string(),
                request_id: error.request_id,
            },
        },
        Line::Fault(fault) => Event::Unusable {
            problem: fault.to_string(),
            request_id: request_id_in(fault.head()),
        },
    }
}
