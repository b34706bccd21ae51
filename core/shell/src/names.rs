//! Names of variables.

/// Whether a text can be a variable's name.
pub(crate) fn is_name(text: &str) -> bool {
    let mut bytes = text.bytes();
    bytes
        .next()
        .is_some_and(|b| b.is_ascii_alphabetic() || b == b'_')
        && bytes.all(|b| b.is_ascii_alphanumeric() || b == b'_')
}

/// Whether a loop may set it: those in capitals may be ones that the shell or programs act upon.
pub(crate) fn is_free_for_loops(name: &str) -> bool {
    !name.bytes().any(|b| b.is_ascii_uppercase()) && name != "_"
}

/// Whether its value is made by the shell, which therefore must be asked: no tree can say what it will be.
pub fn is_made_by_the_shell(name: &str) -> bool {
    name.starts_with("BASH")
        || name.starts_with("EPOCH")
        || name.starts_with("COMP_")
        || matches!(
            name,
            "_" | "COLUMNS"
                | "DIRSTACK"
                | "EUID"
                | "FUNCNAME"
                | "GROUPS"
                | "HISTCMD"
                | "HOSTNAME"
                | "HOSTTYPE"
                | "IFS"
                | "LINENO"
                | "LINES"
                | "MACHTYPE"
                | "OPTARG"
                | "OPTERR"
                | "OPTIND"
                | "OSTYPE"
                | "PIPESTATUS"
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
                | "UID"
        )
}

/// Whether shells or programs act upon it, whoever has set it.
pub(crate) fn is_acted_upon(name: &str) -> bool {
    name.ends_with("PATH")
        || name.starts_with("LD_")
        || name.starts_with("DYLD_")
        || matches!(
            name,
            "ENV"
                | "HOME"
                | "PWD"
                | "OLDPWD"
                | "SHELL"
                | "SHLVL"
                | "TMPDIR"
                | "TMOUT"
                | "MAIL"
                | "MAILCHECK"
        )
        || name.starts_with("LC_")
        || matches!(
            name,
            "LANG"
                | "LANGUAGE"
                | "POSIXLY_CORRECT"
                | "GLOBIGNORE"
                | "GLOBSORT"
                | "FUNCNEST"
                | "EXECIGNORE"
                | "HISTFILE"
                | "INPUTRC"
        )
}
