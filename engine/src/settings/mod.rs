//! Settings files.
