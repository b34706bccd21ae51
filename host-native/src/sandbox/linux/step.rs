//! The steps by which a child confines itself, as it reports them to the process that started it.

/// A step. Its number is reported when it fails.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[repr(u8)]
pub(super) enum Step {
    Namespaces = 1,
    Mounts,
    Handles,
    Rights,
    Rules,
    Filters,
}

impl Step {
    pub(super) const ALL: [Self; 6] = [
        Self::Namespaces,
        Self::Mounts,
        Self::Handles,
        Self::Rights,
        Self::Rules,
        Self::Filters,
    ];

    /// A description of the step for messages.
    pub(super) fn words(self) -> &'static str {
        match self {
            Self::Namespaces => "entering the namespaces",
            Self::Mounts => "covering closed files",
            Self::Handles => "closing handles of others",
            Self::Rights => "giving up rights",
            Self::Rules => "Landlock",
            Self::Filters => "filtering system calls",
        }
    }
}
