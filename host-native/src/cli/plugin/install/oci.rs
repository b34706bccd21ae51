//! Plugins of OCI registries: artifacts with one layer `application/wasm`, as the Bytecode Alliance's tools push them.

use std::{fmt::Write as _, path::Path, time::Duration};

use bytes::Bytes;
use oci_client::{
    Reference,
    manifest::{OciDescriptor, OciImageManifest, OciManifest},
};
use reqwest::Url;
use ring::digest::{SHA256, SHA384, SHA512};
use windlass::{
    http::is_this_machine,
    plugins::{Inspection, MAX_COMPONENT},
};

use super::{
    error::InstallError,
    registry_body::MANIFEST,
    registry_client::RegistryClient,
    registry_fault::{self, RegistryError, words},
    registry_login::login,
    signature::PublicKey,
};
use crate::cli::install_args::PluginFetchArgs;

/// The media types of the standard layout.
const CONFIG: &str = "application/vnd.wasm.config.v0+json";
const LAYER: &str = "application/wasm";

/// Where cosign writes the signature of a layer.
const SIGNATURE: &str = "dev.cosignproject.cosign/signature";

/// Bytes of the largest payload of a signature.
const LARGEST_PAYLOAD: usize = 64 << 10;

/// The most signatures of an artifact that are looked at.
const MOST_SIGNATURES: usize = 16;

/// How long a component may take, as long as something comes at all.
const COMPONENT: Duration = Duration::from_mins(30);

/// A registry with one artifact.
pub(super) struct Artifact<'a> {
    client: RegistryClient<'a>,
    reference: &'a Reference,
    text: String,
}

impl<'a> Artifact<'a> {
    /// An artifact. Nothing is sent to its registry yet.
    ///
    /// # Errors
    /// [`InstallError`]: plain HTTP with another machine, or certificates or a login that cannot be used.
    pub(super) async fn at(
        reference: &'a Reference,
        args: &'a PluginFetchArgs,
        certificates: Option<&Path>,
    ) -> Result<Self, InstallError> {
        let text = format!("oci://{}", reference.whole());
        let scheme = match args.plain_http {
            true => "http",
            false => "https",
        };
        let registry = Url::parse(&format!("{scheme}://{}/", reference.resolve_registry()));
        let Ok(registry) = registry else {
            let problem = "what stands before the first slash is no host, or no port";
            return Err(InstallError::Source(text, problem));
        };
        if args.plain_http && !is_this_machine(&registry) {
            return Err(InstallError::Source(
                text,
                "--plain-http is for a registry on this machine (127.0.0.1, [::1], localhost)",
            ));
        }
        // Behind the check above: no password goes to another machine unencrypted.
        let login = login(reference.registry(), args).await?;
        let repository = reference.repository();
        let certificates: Vec<_> = certificates.map(Path::to_path_buf).into_iter().collect();
        let client =
            RegistryClient::new(registry, repository, &args.auth_hosts, login, &certificates);
        match client {
            Ok(client) => Ok(Self {
                client,
                reference,
                text,
            }),
            Err(error) => Err(registry_fault::of(&text, error)),
        }
    }

    /// Pulls the component. If it must be signed, the signature is checked before the component is fetched.
    ///
    /// # Errors
    /// [`InstallError`].
    pub(super) async fn pull(mut self, key: Option<&PublicKey>) -> Result<Bytes, InstallError> {
        let (manifest, digest) = self.manifest(named(self.reference)).await?;
        let text = self.text.clone();
        let not = |reason: String| InstallError::Artifact(text.clone(), reason);
        let config = &manifest.config.media_type;
        if config != CONFIG {
            let kind = words(config);
            return Err(not(format!("its config is `{kind}`, not `{CONFIG}`")));
        }
        let [layer] = manifest.layers.as_slice() else {
            let count = manifest.layers.len();
            return Err(not(format!("it has {count} layers, not one of `{LAYER}`")));
        };
        if layer.media_type != LAYER {
            let kind = words(&layer.media_type);
            return Err(not(format!("its layer is `{kind}`, not `{LAYER}`")));
        }
        if let Some(key) = key {
            let checked = self.check_signature(&digest, key).await;
            checked.map_err(|reason| InstallError::Signature {
                source_text: text,
                key: key.text(),
                reason,
            })?;
        }
        self.layer(layer, MAX_COMPONENT, COMPONENT).await
    }

    /// A manifest by its tag or digest, and the SHA-256 of the bytes that came.
    async fn manifest(&mut self, name: &str) -> Result<(OciImageManifest, String), InstallError> {
        let bytes = self.client.manifest(name).await;
        let bytes = bytes.map_err(|error| self.failed(error))?;
        let found = digest_like(name, &bytes);
        if name.contains(':') && !found.eq_ignore_ascii_case(name) {
            return Err(self.failed(RegistryError::Digest(found)));
        }
        match read_manifest(&bytes) {
            Ok(manifest) => Ok((manifest, Inspection::digest(&bytes))),
            Err(error) => Err(self.failed(error)),
        }
    }

    /// A layer, if it has the bytes that its descriptor says, and no more than these. Other addresses for it (`urls`) are not looked
    /// at: they would lead anywhere.
    async fn layer(
        &mut self,
        layer: &OciDescriptor,
        most: usize,
        time: Duration,
    ) -> Result<Bytes, InstallError> {
        let size = usize::try_from(layer.size).ok();
        let Some(size) = size.filter(|size| *size <= most) else {
            let what = "a layer";
            return Err(self.failed(RegistryError::TooLarge { what, most }));
        };
        // It becomes part of an address.
        if !is_digest(&layer.digest) {
            let reason = "the digest of a layer is not sha256: and 64 hexadecimal digits";
            return Err(InstallError::Artifact(self.text.clone(), reason.to_owned()));
        }
        let content = self.client.layer(&layer.digest, size, time).await;
        let content = content.map_err(|error| self.failed(error))?;
        let found = Inspection::digest(&content);
        match found == layer.digest {
            true => Ok(content),
            false => Err(InstallError::Digest {
                source_text: self.text.clone(),
                expected: layer.digest.clone(),
                found,
            }),
        }
    }

    /// Looks for a signature of the manifest where cosign keeps it: under the tag `sha256-….sig`.
    async fn check_signature(&mut self, digest: &str, key: &PublicKey) -> Result<(), String> {
        let tag = format!("{}.sig", digest.replace(':', "-"));
        let manifest = self.manifest(&tag).await;
        let (manifest, _) = manifest.map_err(|error| format!("no signature was found: {error}"))?;
        let mut why = "it has no signature".to_owned();
        for layer in manifest.layers.iter().take(MOST_SIGNATURES) {
            let annotations = layer.annotations.as_ref();
            let Some(signature) = annotations.and_then(|all| all.get(SIGNATURE)) else {
                continue;
            };
            let payload = self.layer(layer, LARGEST_PAYLOAD, MANIFEST).await;
            let payload = payload.map_err(|error| error.to_string())?;
            match key.check_artifact(&payload, signature, digest) {
                Ok(()) => return Ok(()),
                Err(reason) => why = reason,
            }
        }
        Err(why)
    }

    fn failed(&self, error: RegistryError) -> InstallError {
        registry_fault::of(&self.text, error)
    }
}

/// What a manifest is asked for by. A digest says it more exactly than a tag beside it.
fn named(reference: &Reference) -> &str {
    reference.digest().or(reference.tag()).unwrap_or("latest")
}

/// The digest of bytes by the algorithm of another one; SHA-256 where that names none.
fn digest_like(other: &str, bytes: &[u8]) -> String {
    let (name, algorithm) = match other.split_once(':') {
        Some(("sha384", _)) => ("sha384", &SHA384),
        Some(("sha512", _)) => ("sha512", &SHA512),
        _ => ("sha256", &SHA256),
    };
    let mut text = format!("{name}:");
    for byte in ring::digest::digest(algorithm, bytes).as_ref() {
        // Writing to a String cannot fail.
        let _ = write!(text, "{byte:02x}");
    }
    text
}

/// Whether this is a digest as registries write those of layers.
fn is_digest(text: &str) -> bool {
    let is_digit = |byte: u8| matches!(byte, b'0'..=b'9' | b'a'..=b'f');
    let digits = text.strip_prefix("sha256:");
    digits.is_some_and(|digits| digits.len() == 64 && digits.bytes().all(is_digit))
}

fn read_manifest(bytes: &[u8]) -> Result<OciImageManifest, RegistryError> {
    let manifest = serde_json::from_slice(bytes)
        .map_err(|error| RegistryError::not_answer(&error.to_string()))?;
    match manifest {
        OciManifest::ImageIndex(_) => Err(RegistryError::List),
        OciManifest::Image(manifest) if manifest.schema_version == 2 => Ok(manifest),
        OciManifest::Image(manifest) => {
            let version = manifest.schema_version;
            let reason = format!("a manifest of version {version}, not 2");
            Err(RegistryError::NotAnswer(reason))
        }
    }
}
