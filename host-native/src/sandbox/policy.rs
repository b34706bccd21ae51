use std::path::PathBuf;
/// Which files a command may touch: absolute, real, and there when it begins.
#[derive(Debug, Default)]
pub(super) struct Files {
    pub(super) open: Vec<PathBuf>,
    pub(super) guarded: Vec<PathBuf>,
    pub(super) read_only: Vec<PathBuf>,
    pub(super) closed: Vec<PathBuf>,
}
