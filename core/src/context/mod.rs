//! What the model is shown of a conversation, and what of it is kept.

pub mod size;
