//! Fetches a plugin, and checks that it is what it should be: its size, its digest, and its signature where a key is named.

use std::path::{Path, PathBuf};

use windlass::{
    http::{DownloadError, download},
    plugins::{MAX_COMPONENT, PluginContent, PluginTree},
};

use super::{error::InstallError, oci::Artifact, signature::PublicKey, source::Source};
use crate::cli::install_args::PluginFetchArgs;

/// Bytes of the largest signature.
const LARGEST_SIGNATURE: usize = 16 << 10;

/// What a plugin has to be.
pub(super) struct Expected<'a> {
    /// Its digest.
    pub(super) digest: Option<String>,
    /// Whose signature it has.
    pub(super) key: Option<&'a PublicKey>,
}

/// Fetches a plugin into memory. Nothing is written.
///
/// # Errors
/// [`InstallError`].
pub(super) async fn fetch(
    source: &Source,
    args: &PluginFetchArgs,
    expected: &Expected<'_>,
) -> Result<PluginContent, InstallError> {
    let content = match source {
        Source::Path(path) => read(path, expected.key)?,
        Source::Https { url, .. } => {
            if expected.digest.is_none() && expected.key.is_none() {
                return Err(InstallError::NoDigest(url.clone()));
            }
            let certificates: Vec<PathBuf> = certificates(args).into_iter().collect();
            let bytes = download(url, MAX_COMPONENT, &certificates).await?;
            if let Some(key) = expected.key {
                let beside = signature_of(url);
                let signature = match download(&beside, LARGEST_SIGNATURE, &certificates).await {
                    // There is none: that is about the signature, not about the network.
                    Err(DownloadError::Status { status, .. }) => {
                        let reason = format!("{beside} was answered with {status}");
                        return Err(unsigned(source, key, reason));
                    }
                    other => other?,
                };
                check(source, key, &bytes, &signature)?;
            }
            PluginContent::Component(bytes)
        }
        Source::Oci(reference) => {
            let certificates = certificates(args);
            let artifact = Artifact::at(reference, args, certificates.as_deref()).await?;
            PluginContent::Component(artifact.pull(expected.key).await?)
        }
    };
    let found = content.digest();
    match &expected.digest {
        Some(expected) if *expected != found => Err(InstallError::Digest {
            source_text: source.text(),
            expected: expected.clone(),
            found,
        }),
        _ => Ok(content),
    }
}

/// A component or a folder of this machine.
fn read(path: &Path, key: Option<&PublicKey>) -> Result<PluginContent, InstallError> {
    let source = || Source::Path(path.to_path_buf());
    if path.is_dir() {
        if let Some(key) = key {
            let reason = "a folder has no signature: sign a component".to_owned();
            return Err(unsigned(&source(), key, reason));
        }
        return Ok(PluginContent::Folder(PluginTree::read(path)?));
    }
    let bytes = windlass::plugins::read_component(path).map_err(InstallError::at(path))?;
    if let Some(key) = key {
        let beside = PathBuf::from(format!("{}.minisig", path.display()));
        let unusable =
            |reason: String| unsigned(&source(), key, format!("{}: {reason}", beside.display()));
        let signature = windlass::plugins::read_component(&beside);
        let signature = signature.map_err(|error| unusable(error.to_string()))?;
        if signature.len() > LARGEST_SIGNATURE {
            return Err(unusable(format!(
                "it has more than {LARGEST_SIGNATURE} bytes"
            )));
        }
        check(&source(), key, &bytes, &signature)?;
    }
    Ok(PluginContent::Component(bytes.into()))
}

fn check(
    source: &Source,
    key: &PublicKey,
    bytes: &[u8],
    signature: &[u8],
) -> Result<(), InstallError> {
    let signature = String::from_utf8_lossy(signature);
    key.check_file(bytes, &signature)
        .map_err(|reason| unsigned(source, key, reason))
}

fn unsigned(source: &Source, key: &PublicKey, reason: String) -> InstallError {
    InstallError::Signature {
        source_text: source.text(),
        key: key.text(),
        reason,
    }
}

/// The address of a file's signature: beside it, before the query.
fn signature_of(url: &str) -> String {
    match url.split_once('?') {
        Some((path, query)) => format!("{path}.minisig?{query}"),
        None => format!("{url}.minisig"),
    }
}

fn certificates(args: &PluginFetchArgs) -> Option<PathBuf> {
    let named = || std::env::var_os("NODE_EXTRA_CA_CERTS").filter(|file| !file.is_empty());
    args.ca_file.clone().or_else(|| named().map(PathBuf::from))
}
