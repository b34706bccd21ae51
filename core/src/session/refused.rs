//! Requests that a model server refuses because of their content, which must then not be part of the next request.

mod place;

pub(super) use self::place::Place;

use alloc::{borrow::ToOwned, format, string::String, vec, vec::Vec};

use super::{Event, Line, Shared, Thread};
use crate::{
    content::Block,
    effect::Stage,
    history::Role,
    json::{RawJson, RawObject},
    message::InformationLevel,
    model::ErrorClass,
    provider::ApiError,
};

impl Thread {
    /// The current end of the conversation.
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

    /// Removes a prompt that the server refused, with everything added along with it: every later request would be refused for
    /// it. In the transcript it becomes a branch that nothing continues.
    pub(super) fn take_back_prompt(&mut self) {
        if self.run.num_turns > 0 {
            return;
        }
        if let Some(before) = self.run.before_prompt.take() {
            self.go_back_to(&before);
        }
    }

    /// Repairs a round of results that the server refused: everything but text is replaced by a note. Done once per round, and
    /// only if there is anything but text. Returns the event that leads to a new request.
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

    /// Writes the repaired round in place of the refused one, which becomes a branch that nothing continues.
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

/// Replaces everything but text in a block by a note.
fn text_only(block: &RawJson) -> RawJson {
    let kind = kind_of(block);
    match kind.as_deref() {
        Some("text") => block.clone(),
        Some("tool_result") => result_of_texts(block).unwrap_or_else(|| block.clone()),
        kind => note(kind),
    }
}

/// A result whose content is all text; none if it is already.
fn result_of_texts(block: &RawJson) -> Option<RawJson> {
    let mut object = RawObject::parse(block.get()).ok()?;
    let parts: Vec<RawJson> = object.get("content")?.read().ok()?;
    let texts = parts.iter().map(|part| match kind_of(part).as_deref() {
        // References to tools are the provider's own format.
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
