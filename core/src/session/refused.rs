//! Requests that a model server refuses for what is in them: whatever it was must not be in the next one too.

use alloc::{borrow::ToOwned, format, string::String, vec, vec::Vec};

use serde::{Deserialize, Serialize};

use super::{Event, Line, Shared, Thread};
use crate::{
    content::Block,
    effect::Stage,
    history::{Checkpoint, Role},
    id::Uuid,
    json::{RawJson, RawObject},
    message::InformationLevel,
    model::ErrorClass,
    provider::ApiError,
};

/// A place in the conversation, should the server refuse what comes behind it.
#[derive(Debug, Clone, Serialize, Deserialize)]
pub(super) struct Place {
    pub(super) history: Checkpoint,
    pub(super) last_entry: Option<Uuid>,
}

impl Thread {
    /// The end of the conversation as it is now.
    pub(super) fn place(&self) -> Place {
        Place {
            history: self.context.history().checkpoint(),
            last_entry: self.writing.last_entry(),
        }
    }

    fn go_back_to(&mut self, place: &Place) -> bool {
        let went = self.context.go_back_to(place.history);
        if went {
            self.writing.go_back_to(place.last_entry);
        }
        went
    }

    /// Takes back a prompt that the server refused, and what came with it: it would be refused again with every later
    /// prompt. In the transcript it becomes a branch that nothing follows.
    pub(super) fn take_back_prompt(&mut self) {
        if self.run.num_turns > 0 {
            return;
        }
        if let Some(before) = self.run.before_prompt.take() {
            self.go_back_to(&before);
        }
    }

    /// Makes a round of results acceptable that the server refused: what is no text in it gives way to a note. Once a round,
    /// and only where there is anything but text; the event leads to the request with what is left.
    pub(super) fn mend_results(&mut self, shared: &mut Shared, error: &ApiError) -> Option<Event> {
        let refused = matches!(error.status, Some(400 | 413 | 422))
            && error.class == ErrorClass::InvalidRequest;
        if !refused || self.run.mended.is_some() {
            return None;
        }
        let before = self.run.before_results.clone()?;
        let history = self.context.history();
        let blocks = history.blocks(history.message_count().checked_sub(1)?);
        let mended: Vec<RawJson> = blocks.iter().map(text_only).collect();
        if mended == blocks || !self.go_back_to(&before) {
            return None;
        }
        let content = format!(
            "The model server refused what the last tool calls gave ({}); what was no text in it is left out.",
            error.message
        );
        self.inform(shared, InformationLevel::Warning, content);
        self.run.mended = Some(mended);
        Some(Event::Mend)
    }

    /// Writes the mended round in place of the one that was refused; in the transcript that one becomes a branch that
    /// nothing follows.
    pub(super) fn save_mended(&mut self, shared: &mut Shared) -> Option<Event> {
        let blocks = self.run.mended.clone().unwrap_or_default();
        self.context.push_mended(blocks.clone());
        self.save(
            shared,
            Stage::SaveResults,
            vec![Line::new(Role::User, blocks)],
        )
    }
}

/// A block with a note in the place of everything that is no text.
fn text_only(block: &RawJson) -> RawJson {
    let kind = kind_of(block);
    match kind.as_deref() {
        Some("text") => block.clone(),
        Some("tool_result") => result_of_texts(block).unwrap_or_else(|| block.clone()),
        kind => note(kind),
    }
}

/// A result in whose content everything is text; none if it is so already.
fn result_of_texts(block: &RawJson) -> Option<RawJson> {
    let mut object = RawObject::parse(block.get()).ok()?;
    let parts: Vec<RawJson> = object.get("content")?.read().ok()?;
    let texts = parts.iter().map(|part| match kind_of(part).as_deref() {
        // References to tools are the provider's own words.
        Some("text" | "tool_reference") => part.clone(),
        kind => note(kind),
    });
    let texts: Vec<RawJson> = texts.collect();
    object.set("content", RawJson::encode(&texts).ok()?);
    Some(object.to_raw())
}

fn kind_of(block: &RawJson) -> Option<String> {
    RawObject::parse(block.get()).ok()?.get_string("type")
}

fn note(kind: Option<&str>) -> RawJson {
    let kind = kind.unwrap_or("block").to_owned();
    let text = format!("[{kind}: left out, because the model server refused it]");
    Block::text(&text).to_raw()
}
