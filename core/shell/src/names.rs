//! Names of variables and programs.

/// Whether a text can be a variable's name.
#[must_use]
pub fn is_name(text: &str) -> bool {
    let mut bytes = text.bytes();
    bytes
        .next()
        .is_some_and(|b| b.is_ascii_alphabetic() || b == b'_')
        && bytes.all(|b| b.is_ascii_alphanumeric() || b == b'_')
}

/// Whether a loop may set it: upper-case variables may have a meaning for the shell or for programs.
pub(crate) fn is_free_for_loops(name: &str) -> bool {
    !name.bytes().any(|b| b.is_ascii_uppercase()) && name != "_"
}

/// Whether the shell sets its value, or it is withheld from programs here: its value cannot be known from the tree.
#[must_use]
pub fn is_made_by_the_shell(name: &str) -> bool {
    ["BASH", "EPOCH", "COMP_", "LD_", "DYLD_"]
        .iter()
        .any(|beginning| name.starts_with(beginning))
        || matches!(
            name,
            "_" | "CDPATH"
                | "COLUMNS"
                | "COPROC"
                | "DIRSTACK"
                | "ENV"
                | "EUID"
                | "EXECIGNORE"
                | "FIGNORE"
                | "FUNCNAME"
                | "FUNCNEST"
                | "GLOBIGNORE"
                | "GLOBSORT"
                | "GROUPS"
                | "HISTCMD"
                | "HOSTNAME"
                | "HOSTTYPE"
                | "IFS"
                | "LINENO"
                | "LINES"
                | "MACHTYPE"
                | "MAILCHECK"
                | "MAPFILE"
                | "OPTARG"
                | "OPTERR"
                | "OPTIND"
                | "OSTYPE"
                | "PIPESTATUS"
                | "POSIXLY_CORRECT"
                | "PPID"
                | "PS1"
                | "PS2"
                | "PS3"
                | "PS4"
                | "RANDOM"
                | "READLINE_LINE"
                | "REPLY"
                | "SECONDS"
                | "SHELLOPTS"
                | "SRANDOM"
                | "TIMEFORMAT"
                | "TMOUT"
                | "UID"
        )
}

/// Whether it has a meaning for shells or programs, whoever sets it.
#[must_use]
pub fn is_acted_upon(name: &str) -> bool {
    name.ends_with("PATH")
        || name.starts_with("LC_")
        || matches!(
            name,
            "HOME"
                | "HISTFILE"
                | "INPUTRC"
                | "LANG"
                | "LANGUAGE"
                | "MAIL"
                | "OLDPWD"
                | "PWD"
                | "SHELL"
                | "SHLVL"
                | "TMPDIR"
        )
}

/// Whether it affects which programs are found or started, or what they do.
pub(crate) fn directs_programs(name: &str) -> bool {
    is_acted_upon(name) || is_made_by_the_shell(name) || name.starts_with("GIT_")
}

/// Programs that search for files and run other programs on them.
#[must_use]
pub fn is_search(name: &str) -> bool {
    matches!(name, "find" | "fd" | "fdfind")
}

/// The program's name without its folder.
pub(crate) fn base_name(program: &str) -> &str {
    program.rsplit('/').next().unwrap_or(program)
}
