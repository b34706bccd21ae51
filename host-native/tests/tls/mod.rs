//! What test servers on loopback need for TLS: somebody who vouches for `localhost`, and the reading of requests.

use std::{
    io::{self, Read},
    sync::Arc,
};

use rcgen::{BasicConstraints, CertificateParams, CertifiedIssuer, IsCa, KeyPair};
use rustls::{ServerConfig, pki_types::PrivatePkcs8KeyDer};

/// The settings of a server for `localhost`, and the authority that vouches for it, in PEM form.
pub(crate) fn for_localhost() -> (Arc<ServerConfig>, String) {
    let mut params = CertificateParams::default();
    params.is_ca = IsCa::Ca(BasicConstraints::Unconstrained);
    let authority = CertifiedIssuer::self_signed(params, KeyPair::generate().unwrap()).unwrap();
    let key = KeyPair::generate().unwrap();
    let certificate = CertificateParams::new(vec!["localhost".to_owned()]).unwrap();
    let certificate = certificate.signed_by(&key, &authority).unwrap();
    let provider = Arc::new(rustls::crypto::ring::default_provider());
    let key = PrivatePkcs8KeyDer::from(key.serialize_der());
    let settings = ServerConfig::builder_with_provider(provider)
        .with_safe_default_protocol_versions()
        .unwrap()
        .with_no_client_auth()
        .with_single_cert(vec![certificate.der().clone()], key.into())
        .unwrap();
    (Arc::new(settings), authority.pem())
}

/// The head of a request; `None` if its client ends before, as one does that does not trust the certificate.
pub(crate) fn request_head(stream: &mut impl Read) -> io::Result<Option<String>> {
    let mut request = String::new();
    while !request.contains("\r\n\r\n") {
        let mut part = [0; 4096];
        let read = stream.read(&mut part)?;
        if read == 0 {
            return Ok(None);
        }
        request.push_str(&String::from_utf8_lossy(&part[..read]));
    }
    Ok(Some(request))
}
