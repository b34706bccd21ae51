//! Builtins of shells.

/// Whether the host or the shell runs this command itself, without starting a program.
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

/// Whether bash, or for `chdir` dash, has a builtin with this name that only a shell can run, because it changes the shell or
/// concerns it.
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
