//! Events of a model's stream on their way to JavaScript.
//!
//! They come by hundreds in one piece of a response, and a call into JavaScript for each costs more than the event itself. What one
//! piece brings is given together: the events, their ids, and once what they share.

use std::{cell::RefCell, fmt::Write as _, rc::Rc};

use js_sys::Promise;
use wasm_bindgen::JsCast;
use wasm_bindgen_futures::{JsFuture, spawn_local};
use windlass_core::{Message, RawJson, Uuid, message::StreamEvent};

use crate::imports::WasmHost;

/// How many are given at once, at most: as many as JavaScript lets wait for their reader.
const MOST: usize = 256;

/// Between two events: together they are the elements of an array, and none has a line feed of its own.
const SEPARATOR: &str = ",\n";

/// Collects events until the driver waits for something else.
#[derive(Debug)]
pub(crate) struct StreamEvents {
    waiting: Rc<RefCell<Waiting>>,
}

#[derive(Debug)]
struct Waiting {
    js: WasmHost,
    batch: Option<Batch>,
    /// Resolves when there is room for more; until then nothing is added.
    room: Option<Promise>,
}

/// Events that differ in themselves and in their ids only.
#[derive(Debug)]
struct Batch {
    /// A message as they all are, without an event and an id of its own.
    envelope: StreamEvent,
    events: String,
    uuids: String,
    count: usize,
}

impl StreamEvents {
    pub(crate) fn new(js: WasmHost) -> Self {
        let waiting = Waiting {
            js,
            batch: None,
            room: None,
        };
        Self {
            waiting: Rc::new(RefCell::new(waiting)),
        }
    }

    /// Adds one, once there is room for it.
    pub(crate) async fn add(&self, event: StreamEvent) {
        let room = self.waiting.borrow_mut().room.take();
        if let Some(room) = room {
            // An error of the receiver does not stop the session.
            let _ = JsFuture::from(room).await;
        }
        let mut waiting = self.waiting.borrow_mut();
        if waiting.batch.as_ref().is_some_and(|it| !it.takes(&event)) {
            waiting.give();
        }
        let is_first = waiting.batch.is_none();
        let batch = waiting.batch.get_or_insert_with(|| Batch::like(&event));
        batch.add(&event);
        if batch.count == MOST {
            waiting.give();
        } else if is_first {
            // Runs when the driver has nothing more to do without waiting.
            let later = Rc::clone(&self.waiting);
            spawn_local(async move { later.borrow_mut().give() });
        }
    }

    /// Gives JavaScript what waits, before something that follows on it.
    pub(crate) fn give(&self) {
        self.waiting.borrow_mut().give();
    }
}

impl Waiting {
    fn give(&mut self) {
        let Some(batch) = self.batch.take() else {
            return;
        };
        let envelope = Message::StreamEvent(batch.envelope).to_line();
        let taken = (self.js).stream_events(&envelope, &batch.events, &batch.uuids, batch.count);
        if let Ok(Ok(room)) = taken.map(JsCast::dyn_into::<Promise>) {
            self.room = Some(room);
        }
    }
}

impl Batch {
    fn like(event: &StreamEvent) -> Self {
        Self {
            envelope: StreamEvent {
                event: RawJson::null(),
                parent_tool_use_id: event.parent_tool_use_id.clone(),
                uuid: Uuid::nil(),
                session_id: event.session_id,
            },
            events: String::new(),
            uuids: String::new(),
            count: 0,
        }
    }

    fn takes(&self, event: &StreamEvent) -> bool {
        self.envelope.parent_tool_use_id == event.parent_tool_use_id
            && self.envelope.session_id == event.session_id
    }

    fn add(&mut self, event: &StreamEvent) {
        if self.count > 0 {
            self.events.push_str(SEPARATOR);
        }
        self.events.push_str(event.event.get());
        // Writing to a text cannot fail.
        let _ = write!(self.uuids, "{}", event.uuid);
        self.count += 1;
    }
}
