//! What nobody judged does not run and is not opened.
