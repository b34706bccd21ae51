//! What a project brings along.
