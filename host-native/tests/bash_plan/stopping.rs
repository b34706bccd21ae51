//! Plans that are stopped, and plans that nobody could stop otherwise.
