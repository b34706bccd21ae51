//! What shells do themselves.

/// Whether a program of this name is done by the host or the shell itself, not started.
#[must_use]
pub fn is_builtin(name: &str) -> bool {
    matches!(
        name,
        ":" | "true"
            | "false"
            | "echo"
            | "printf"
            | "pwd"
            | "cd"
            | "test"
            | "["
            | "exit"
            | "break"
            | "continue"
            | "command"
    )
}

/// Whether bash, or for `chdir` dash, has a builtin of this name that only a shell can do, because it changes the shell or is about it.
#[must_use]
pub fn is_shell_only(name: &str) -> bool {
    matches!(
        name,
        "." | "alias"
            | "bg"
            | "bind"
            | "builtin"
            | "caller"
            | "chdir"
            | "compgen"
            | "complete"
            | "compopt"
            | "declare"
            | "dirs"
            | "disown"
            | "enable"
            | "eval"
            | "exec"
            | "export"
            | "fc"
            | "fg"
            | "getopts"
            | "hash"
            | "help"
            | "history"
            | "jobs"
            | "kill"
            | "let"
            | "local"
            | "logout"
            | "mapfile"
            | "popd"
            | "pushd"
            | "read"
            | "readarray"
            | "readonly"
            | "return"
            | "set"
            | "shift"
            | "shopt"
            | "source"
            | "suspend"
            | "times"
            | "trap"
            | "type"
            | "typeset"
            | "ulimit"
            | "umask"
            | "unalias"
            | "unset"
            | "wait"
    )
}
