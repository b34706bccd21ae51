//! TLS configuration: the system's certificates and additional ones of the user.

use std::{path::PathBuf, sync::Arc};

use rustls::{
    ClientConfig, ConfigBuilder, RootCertStore, WantsVerifier,
    crypto::{CryptoProvider, ring},
    pki_types::{CertificateDer, pem::PemObject},
};
use rustls_platform_verifier::Verifier;

use super::EndpointError;

/// A configuration that trusts the system's certificates and those in the files.
pub(crate) fn trusting(extra: &[PathBuf]) -> Result<ClientConfig, EndpointError> {
    let mut roots = Vec::new();
    for file in extra {
        let unusable = |reason: String| EndpointError::Certificates {
            file: file.clone(),
            reason,
        };
        let before = roots.len();
        let found =
            CertificateDer::pem_file_iter(file).map_err(|error| unusable(error.to_string()))?;
        for certificate in found {
            roots.push(certificate.map_err(|error| unusable(error.to_string()))?);
        }
        if roots.len() == before {
            return Err(unusable(
                "there is none in it; it must be in PEM form".to_owned(),
            ));
        }
    }
    let tls = |error: rustls::Error| EndpointError::Tls(error.to_string());
    let provider = provider();
    let verifier = Verifier::new_with_extra_roots(roots, Arc::clone(&provider)).map_err(tls)?;
    let config = builder(provider)?
        .dangerous()
        // rustls calls every custom verifier "dangerous"; this one is the platform's.
        .with_custom_certificate_verifier(Arc::new(verifier))
        .with_no_client_auth();
    Ok(with_protocols(config))
}

/// A configuration that trusts no certificate, for a server reached without TLS. Reads no certificates.
pub(crate) fn unused() -> Result<ClientConfig, EndpointError> {
    let config = builder(provider())?
        .with_root_certificates(RootCertStore::empty())
        .with_no_client_auth();
    Ok(with_protocols(config))
}

fn provider() -> Arc<CryptoProvider> {
    Arc::new(ring::default_provider())
}

fn builder(
    provider: Arc<CryptoProvider>,
) -> Result<ConfigBuilder<ClientConfig, WantsVerifier>, EndpointError> {
    ClientConfig::builder_with_provider(provider)
        .with_safe_default_protocol_versions()
        .map_err(|error| EndpointError::Tls(error.to_string()))
}

fn with_protocols(mut config: ClientConfig) -> ClientConfig {
    config.alpn_protocols = vec![b"h2".to_vec(), b"http/1.1".to_vec()];
    config
}
