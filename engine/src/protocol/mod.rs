//! The lines that an SDK and its engine exchange.
