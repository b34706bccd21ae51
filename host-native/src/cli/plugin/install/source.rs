//! Where a plugin is taken from.

use std::{fs, io, path::PathBuf};

use oci_client::Reference;

use super::error::InstallError;

/// A source as a person names it, and as the lock file keeps it.
#[derive(Debug, Clone)]
pub(super) enum Source {
    /// A component or a folder.
    Path(PathBuf),
    /// An address with `https`, and the digest of its fragment.
    Https { url: String, digest: Option<String> },
    /// An artifact of a registry.
    Oci(Box<Reference>),
}

impl Source {
    /// Reads a source.
    ///
    /// # Errors
    /// [`InstallError::Source`]: it is none.
    pub(super) fn parse(text: &str) -> Result<Self, InstallError> {
        let wrong = |problem| InstallError::Source(text.to_owned(), problem);
        let Some((scheme, rest)) = text.split_once("://") else {
            let path = PathBuf::from(text);
            let real = fs::canonicalize(&path).map_err(|error| match error.kind() {
                io::ErrorKind::NotFound => wrong(
                    "there is no such file or folder. A source is a path, https://…#sha256=DIGEST or oci://REGISTRY/REPOSITORY:TAG",
                ),
                _ => InstallError::at(path)(error),
            })?;
            return Ok(Self::Path(real));
        };
        match scheme {
            "https" => {
                let (url, fragment) = match text.split_once('#') {
                    Some((url, fragment)) => (url, Some(fragment)),
                    None => (text, None),
                };
                let digits = fragment.map(|fragment| {
                    let digits = fragment.strip_prefix("sha256=");
                    digits.ok_or_else(|| {
                        wrong("what follows # is #sha256= and the digest of the file")
                    })
                });
                Ok(Self::Https {
                    url: url.to_owned(),
                    digest: digits.transpose()?.map(digest).transpose()?,
                })
            }
            "oci" => {
                let names_registry = rest.split_once('/').is_some_and(|(registry, _)| {
                    registry == "localhost" || registry.contains(['.', ':'])
                });
                let reference = rest.parse().ok().filter(|_| names_registry);
                let reference = reference.ok_or_else(|| {
                    wrong("an artifact of a registry is named oci://REGISTRY/REPOSITORY:TAG, and maybe @sha256:DIGEST")
                });
                Ok(Self::Oci(Box::new(reference?)))
            }
            "http" => Err(wrong(
                "a plugin is not fetched without encryption: write https://, or download the file yourself and name its path",
            )),
            _ => Err(wrong("a source is a path, https://… or oci://…")),
        }
    }

    /// As it is kept and shown.
    pub(super) fn text(&self) -> String {
        match self {
            Self::Path(path) => path.display().to_string(),
            Self::Https { url, .. } => url.clone(),
            Self::Oci(reference) => format!("oci://{}", reference.whole()),
        }
    }
}

/// A digest as a person writes it.
///
/// # Errors
/// [`InstallError::NotDigest`].
pub(super) fn digest(text: &str) -> Result<String, InstallError> {
    let digits = text
        .strip_prefix("sha256:")
        .unwrap_or(text)
        .to_ascii_lowercase();
    let is_hex = digits.len() == 64 && digits.bytes().all(|byte| byte.is_ascii_hexdigit());
    match is_hex {
        true => Ok(format!("sha256:{digits}")),
        false => Err(InstallError::NotDigest(text.to_owned())),
    }
}
