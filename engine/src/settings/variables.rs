//! Which environment variables an untrusted folder may not set.
//!
//! The `env` of settings is passed to every program that is started. Some variables replace a program (`PATH`, `LD_PRELOAD`,
//! `BASH_ENV`), make it start another one (`PAGER`, `GIT_SSH_COMMAND`), or make it send data to another place (`HTTPS_PROXY`,
//! `ANTHROPIC_BASE_URL`). No list of names can be complete, so families of names are identified by prefix and suffix. A
//! variable that is blocked unnecessarily is reported, and can be set in the user's own settings.

/// Individual names.
const NAMES: &[&str] = &[
    "AR",
    "AS",
    "BROWSER",
    "CC",
    "CHROME_BIN",
    "CLASSPATH",
    "COMSPEC",
    "CONFIG_SITE",
    "COVERAGE_PROCESS_START",
    "CPP",
    "CXX",
    "DJANGO_SETTINGS_MODULE",
    "EDITOR",
    "ENV",
    "EXINIT",
    "FCEDIT",
    "FLASK_APP",
    "FPATH",
    "GCONV_PATH",
    "GDBINIT",
    "GLOBIGNORE",
    "GNUPGHOME",
    "GZIP",
    "HOME",
    "HOSTALIASES",
    "IFS",
    "INPUTRC",
    "LD",
    "LESS",
    "LOCALDOMAIN",
    "LOGNAME",
    "LYNX_CFG",
    "MAILCAPS",
    "MORE",
    "MYSQL_HOME",
    "NETRC",
    "PAGER",
    "PGSERVICEFILE",
    "PGSYSCONFDIR",
    "POSIXLY_CORRECT",
    "PROMPT_COMMAND",
    "PS0",
    "PS1",
    "PS2",
    "PS3",
    "PS4",
    "PSQLRC",
    "SHELL",
    "SHELLOPTS",
    "SYSTEMROOT",
    "TEMP",
    "TERMCAP",
    "TERMINFO",
    "TERMINFO_DIRS",
    "TEXINPUTS",
    "TMP",
    "TMPDIR",
    "UNZIP",
    "USER",
    "VIMINIT",
    "VISUAL",
    "WGETRC",
    "WINDIR",
    "ZDOTDIR",
    "ZIPOPT",
];

/// Prefixes of the variables of particular programs: loaders, shells, languages, package managers, clients that hold keys.
const BEGINNINGS: &[&str] = &[
    "_JAVA",
    "ANSIBLE_",
    "ANTHROPIC_",
    "AWS_",
    "AZURE_",
    "BASH",
    "BUN_",
    "BUNDLE_",
    "CARGO",
    "CCACHE_",
    "CLAUDE",
    "CLOUDSDK_",
    "CMAKE_",
    "COMPOSER_",
    "CONDA_",
    "COR_",
    "CORECLR_",
    "COREPACK_",
    "CURL_",
    "CVS",
    "DBUS_",
    "DENO_",
    "DIRENV_",
    "DOCKER_",
    "DOTNET_",
    "DYLD_",
    "ELECTRON_",
    "EMACS",
    "ERL_",
    "GCC_",
    "GDK_",
    "GEM_",
    "GH_",
    "GHC",
    "GIO_",
    "GIT_",
    "GLIBC_",
    "GO",
    "GRADLE_",
    "GTK_",
    "HELM_",
    "HOMEBREW_",
    "HTTP",
    "JAVA_",
    "JDK_",
    "JULIA_",
    "KUBE",
    "LD_",
    "LESS",
    "LUA",
    "MAKE",
    "MALLOC_",
    "MAN",
    "MAVEN_",
    "MISE_",
    "MIX_",
    "NIX_",
    "NODE_",
    "NPM_",
    "NUGET_",
    "NVM_",
    "OCAML",
    "OPENAI_",
    "OPENSSL_",
    "PERL",
    "PHP",
    "PIP_",
    "PKG_CONFIG",
    "PNPM_",
    "POETRY_",
    "PYENV_",
    "PYLINT",
    "PYTEST_",
    "PYTHON",
    "QT_",
    "R_",
    "RBENV_",
    "RES_",
    "RSYNC_",
    "RUBY",
    "RUST",
    "SSH_",
    "SSL_",
    "SUDO_",
    "SVN_",
    "SYSTEMD_",
    "TAR_",
    "TF_",
    "UV_",
    "VIM",
    "VIRTUAL_ENV",
    "WINDLASS_",
    "XDG_",
    "YARN_",
];

/// Suffixes that indicate an effect on a program.
const ENDINGS: &[&str] = &[
    "_API_KEY",
    "_ARGS",
    "ASKPASS",
    "_AUTH_TOKEN",
    "_BASE_URL",
    "_CA_BUNDLE",
    "_CA_FILE",
    "_CERT_FILE",
    "_CMD",
    "_COMMAND",
    "_CONFIG",
    "EDITOR",
    "_ENDPOINT",
    "_ENDPOINT_URL",
    "_EXEC",
    "_EXECUTABLE",
    "FLAGS",
    "_HOOK",
    "_HOOKS",
    "_INDEX_URL",
    "_LAUNCHER",
    "_LINKER",
    "_LOADER",
    "_OPT",
    "OPTIONS",
    "OPTS",
    "PAGER",
    "PATH",
    "PATHEXT",
    "PRELOAD",
    "_PROGRAM",
    "PROXY",
    "_RC",
    "_REGISTRY",
    "_RSH",
    "_SHELL",
    "_SSH",
    "_STARTUP",
    "_WRAPPER",
];

/// Whether a variable can change which programs run, how they start, or where they send data. This includes everything that
/// is not a valid variable name, because shells import functions from such variables.
#[must_use]
pub fn changes_programs(name: &str) -> bool {
    let is_letter = |byte: u8| byte.is_ascii_alphabetic() || byte == b'_';
    let is_name = name.bytes().next().is_some_and(is_letter)
        && name
            .bytes()
            .all(|byte| is_letter(byte) || byte.is_ascii_digit());
    // Some programs read their variables in lower case (`http_proxy`, `npm_config_registry`).
    let upper = name.to_ascii_uppercase();
    !is_name
        || NAMES.contains(&upper.as_str())
        || BEGINNINGS.iter().any(|begin| upper.starts_with(begin))
        || ENDINGS.iter().any(|end| upper.ends_with(end))
}

/// Variables that control the output and features of a project's own programs, and that no known program interprets as
/// something to start, read or connect to.
const PLAIN: &[&str] = &[
    "APP_ENV",
    "CI",
    "CLICOLOR",
    "CLICOLOR_FORCE",
    "COLORTERM",
    "DEBUG",
    "ENVIRONMENT",
    "FORCE_COLOR",
    "LANG",
    "LANGUAGE",
    "LOGLEVEL",
    "LOG_FORMAT",
    "LOG_LEVEL",
    "MIX_ENV",
    "NODE_ENV",
    "NO_COLOR",
    "PORT",
    "RACK_ENV",
    "RAILS_ENV",
    "RUST_BACKTRACE",
    "RUST_LOG",
    "STAGE",
    "TZ",
    "VERBOSE",
];

/// Prefixes of further plain variables: locale categories, and switches for single features.
const PLAIN_BEGINNINGS: &[&str] = &["ENABLE_", "DISABLE_", "FEATURE_", "LC_"];

/// Whether an untrusted folder may set this variable. The variables that can change programs cannot all be listed, so this is
/// a list of those that cannot.
#[must_use]
pub fn is_plain(name: &str) -> bool {
    let is_known = PLAIN.contains(&name)
        || PLAIN_BEGINNINGS.iter().any(|begin| {
            name.strip_prefix(begin)
                .is_some_and(|rest| !rest.is_empty())
        });
    is_known && !changes_family(name)
}

/// Whether a name with a plain prefix belongs to a family that can change programs.
fn changes_family(name: &str) -> bool {
    ENDINGS.iter().any(|end| name.ends_with(end))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_makes_programs_others_is_known_by_its_family() {
        for name in [
            "PATH",
            "BASH_ENV",
            "ENV",
            "LD_PRELOAD",
            "LD_LIBRARY_PATH",
            "DYLD_INSERT_LIBRARIES",
            "NODE_OPTIONS",
            "NODE_PATH",
            "NODE_EXTRA_CA_CERTS",
            "PYTHONPATH",
            "PYTHONSTARTUP",
            "PYTHONHOME",
            "PERL5OPT",
            "PERL5LIB",
            "RUBYOPT",
            "RUBYLIB",
            "GIT_SSH_COMMAND",
            "GIT_CONFIG_COUNT",
            "GIT_EXTERNAL_DIFF",
            "SSH_ASKPASS",
            "SSH_AUTH_SOCK",
            "EDITOR",
            "VISUAL",
            "PAGER",
            "MANPAGER",
            "AWS_PAGER",
            "SYSTEMD_EDITOR",
            "JAVA_TOOL_OPTIONS",
            "_JAVA_OPTIONS",
            "npm_config_registry",
            "npm_config_script_shell",
            "IFS",
            "SHELLOPTS",
            "BASHOPTS",
            "PS4",
            "PROMPT_COMMAND",
            "BASH_FUNC_ls%%",
            "ANTHROPIC_BASE_URL",
            "ANTHROPIC_API_KEY",
            "ANTHROPIC_CUSTOM_HEADERS",
            "CLAUDE_CODE_OAUTH_TOKEN",
            "OPENAI_BASE_URL",
            "https_proxy",
            "HTTP_PROXY",
            "ALL_PROXY",
            "no_proxy",
            "RUSTC_WRAPPER",
            "CARGO_TARGET_DIR",
            "MAKEFLAGS",
            "GOFLAGS",
            "CFLAGS",
            "LESSOPEN",
            "TAR_OPTIONS",
            "RSYNC_RSH",
            "SUDO_ASKPASS",
            "OPENSSL_CONF",
            "SSL_CERT_FILE",
            "CURL_CA_BUNDLE",
            "REQUESTS_CA_BUNDLE",
            "PIP_INDEX_URL",
            "UV_INDEX_URL",
            "ZDOTDIR",
            "HOME",
            "XDG_CONFIG_HOME",
            "CDPATH",
            "MANPATH",
            "DOCKER_HOST",
            "KUBECONFIG",
            "GCONV_PATH",
            "PATHEXT",
            "",
            "A=B",
            "1X",
            "A B",
            "É",
        ] {
            assert!(changes_programs(name), "{name}");
        }
    }

    #[test]
    fn conf_12_a_folder_that_nobody_trusts_sets_only_what_is_known_to_be_plain() {
        for name in [
            "DEBUG",
            "LOG_LEVEL",
            "NODE_ENV",
            "LC_ALL",
            "TZ",
            "FEATURE_X",
        ] {
            assert!(is_plain(name), "{name}");
        }
        for name in [
            "DATABASE_URL",
            "SOMETHING_NEW",
            "BABEL_DISABLE_CACHE",
            "PUPPETEER_EXECUTABLE_PATH",
            "debug",
            "LC_",
            "FEATURE_FLAGS",
            "ENABLE_PATH",
        ] {
            assert!(!is_plain(name), "{name}");
        }
    }

    #[test]
    fn what_is_a_projects_own_is_left_alone() {
        for name in [
            "DATABASE_URL",
            "DEBUG",
            "LOG_LEVEL",
            "FEATURE_X",
            "PORT",
            "CI",
            "TZ",
            "LANG",
            "LC_ALL",
            "NO_COLOR",
            "STAGE",
            "MAX_THINKING_TOKENS",
            "SHARED",
            "project_name",
            "_X",
        ] {
            assert!(!changes_programs(name), "{name}");
        }
    }
}
