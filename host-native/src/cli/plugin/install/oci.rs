//! Plugins of OCI registries: artifacts with one layer `application/wasm`, as the Bytecode Alliance's tools push them.

use std::{fs, path::Path, time::Duration};

use bytes::{Bytes, BytesMut};
use futures_util::StreamExt as _;
use oci_client::{
    Client, Reference,
    client::{Certificate, CertificateEncoding, ClientConfig, ClientProtocol},
    errors::OciDistributionError,
    manifest::{OciDescriptor, OciImageManifest},
    secrets::RegistryAuth,
};
use windlass::{
    http::EndpointError,
    plugins::{Inspection, MAX_COMPONENT},
};

use super::{error::InstallError, registry_fault, registry_login::login, signature::PublicKey};
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

/// How long a manifest may take; the body of a component may take as long as something comes.
const MANIFEST: Duration = Duration::from_secs(30);
const IDLE: Duration = Duration::from_secs(60);

/// A registry with one artifact.
pub(super) struct Artifact<'a> {
    client: Client,
    reference: &'a Reference,
    /// Sent to this registry alone.
    login: RegistryAuth,
    text: String,
}

impl<'a> Artifact<'a> {
    /// An artifact. Nothing is sent to its registry yet.
    ///
    /// # Errors
    /// [`InstallError`]: plain HTTP with another machine, or certificates or a login that cannot be used.
    pub(super) async fn at(
        reference: &'a Reference,
        args: &PluginFetchArgs,
        certificates: Option<&Path>,
    ) -> Result<Self, InstallError> {
        let text = format!("oci://{}", reference.whole());
        let registry = reference.resolve_registry();
        let plain_http = args.plain_http;
        if plain_http && !is_this_machine(registry) {
            return Err(InstallError::Source(
                text,
                "--plain-http is for a registry on this machine (127.0.0.1, [::1], localhost)",
            ));
        }
        // Behind the check above: no password goes to another machine unencrypted.
        let login = login(reference.registry(), args).await?;
        // The HTTP client of the registry takes the provider of the process.
        let _ = rustls::crypto::ring::default_provider().install_default();
        let mut extra_root_certificates = Vec::new();
        if let Some(file) = certificates {
            extra_root_certificates.push(Certificate {
                encoding: CertificateEncoding::Pem,
                data: fs::read(file).map_err(|error| EndpointError::Certificates {
                    file: file.to_path_buf(),
                    reason: error.to_string(),
                })?,
            });
        }
        let client = Client::try_from(ClientConfig {
            protocol: match plain_http {
                true => ClientProtocol::Http,
                false => ClientProtocol::Https,
            },
            extra_root_certificates,
            platform_resolver: None,
            connect_timeout: Some(MANIFEST),
            read_timeout: Some(IDLE),
            user_agent: concat!("windlass/", env!("CARGO_PKG_VERSION")),
            ..ClientConfig::default()
        });
        match client {
            Ok(client) => Ok(Self {
                client,
                reference,
                login,
                text,
            }),
            Err(error) => Err(registry_fault::of(&text, &error)),
        }
    }

    /// Pulls the component. If it must be signed, the signature is checked before the component is fetched.
    ///
    /// # Errors
    /// [`InstallError`].
    pub(super) async fn pull(&self, key: Option<&PublicKey>) -> Result<Bytes, InstallError> {
        let (manifest, digest) = self.manifest(self.reference).await?;
        let not = |reason: String| InstallError::Artifact(self.text.clone(), reason);
        let config = &manifest.config.media_type;
        if config != CONFIG {
            return Err(not(format!("its config is `{config}`, not `{CONFIG}`")));
        }
        let [layer] = manifest.layers.as_slice() else {
            let count = manifest.layers.len();
            return Err(not(format!("it has {count} layers, not one of `{LAYER}`")));
        };
        if layer.media_type != LAYER {
            let kind = &layer.media_type;
            return Err(not(format!("its layer is `{kind}`, not `{LAYER}`")));
        }
        if let Some(key) = key {
            let checked = self.check_signature(&digest, key).await;
            checked.map_err(|reason| InstallError::Signature {
                source_text: self.text.clone(),
                key: key.text(),
                reason,
            })?;
        }
        self.layer(layer, MAX_COMPONENT).await
    }

    async fn manifest(
        &self,
        reference: &Reference,
    ) -> Result<(OciImageManifest, String), InstallError> {
        let pulled = self.client.pull_image_manifest(reference, &self.login);
        match tokio::time::timeout(MANIFEST, pulled).await {
            Ok(pulled) => pulled.map_err(|error| self.failed(error)),
            Err(_) => {
                let reason = format!("its manifest did not come within {} s", MANIFEST.as_secs());
                Err(InstallError::Artifact(self.text.clone(), reason))
            }
        }
    }

    /// A layer, if it has the bytes that its descriptor says, and no more than these.
    async fn layer(&self, layer: &OciDescriptor, most: usize) -> Result<Bytes, InstallError> {
        let too_large = || {
            let reason = format!("a layer has more than {most} bytes");
            InstallError::Artifact(self.text.clone(), reason)
        };
        if usize::try_from(layer.size).map_or(true, |size| size > most) {
            return Err(too_large());
        }
        let stream = self.client.pull_blob_stream(self.reference, layer).await;
        let mut stream = stream.map_err(|error| self.failed(error))?.stream;
        let mut content = BytesMut::new();
        while let Some(piece) = stream.next().await {
            let piece = piece.map_err(|error| self.failed(OciDistributionError::from(error)))?;
            if piece.len() > most - content.len() {
                return Err(too_large());
            }
            content.extend_from_slice(&piece);
        }
        let found = Inspection::digest(&content);
        match found == layer.digest {
            true => Ok(content.freeze()),
            false => Err(InstallError::Digest {
                source_text: self.text.clone(),
                expected: layer.digest.clone(),
                found,
            }),
        }
    }

    /// Looks for a signature of the manifest where cosign keeps it: under the tag `sha256-….sig`.
    async fn check_signature(&self, digest: &str, key: &PublicKey) -> Result<(), String> {
        let tag = format!("{}.sig", digest.replace(':', "-"));
        let (registry, repository) = (self.reference.registry(), self.reference.repository());
        let reference = Reference::with_tag(registry.to_owned(), repository.to_owned(), tag);
        let manifest = self.manifest(&reference).await;
        let (manifest, _) = manifest.map_err(|error| format!("no signature was found: {error}"))?;
        let mut why = "it has no signature".to_owned();
        for layer in manifest.layers.iter().take(MOST_SIGNATURES) {
            let annotations = layer.annotations.as_ref();
            let Some(signature) = annotations.and_then(|all| all.get(SIGNATURE)) else {
                continue;
            };
            let payload = self.layer(layer, LARGEST_PAYLOAD).await;
            let payload = payload.map_err(|error| error.to_string())?;
            match key.check_artifact(&payload, signature, digest) {
                Ok(()) => return Ok(()),
                Err(reason) => why = reason,
            }
        }
        Err(why)
    }

    fn failed(&self, error: OciDistributionError) -> InstallError {
        registry_fault::of(&self.text, &error)
    }
}

/// Whether a registry is on this machine.
fn is_this_machine(registry: &str) -> bool {
    let url = format!("http://{registry}/");
    url.parse()
        .is_ok_and(|url| windlass::http::is_this_machine(&url))
}
