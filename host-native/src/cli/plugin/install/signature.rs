//! Whether a plugin is signed by whom it should be: detached signatures of minisign for files, and signatures of cosign with a key
//! for artifacts of registries.

use std::{fs, path::Path};

use base64::{Engine as _, engine::general_purpose::STANDARD};
use minisign_verify::{PublicKey as Minisign, Signature};
use ring::signature::{ECDSA_P256_SHA256_ASN1, UnparsedPublicKey};
use rustls::pki_types::{SubjectPublicKeyInfoDer, pem::PemObject};
use serde::Deserialize;

use super::error::InstallError;

/// What precedes the point of a P-256 key in its DER form: algorithm, curve, and the kind of point.
const P256: &[u8] = b"\x30\x59\x30\x13\x06\x07\x2a\x86\x48\xce\x3d\x02\x01\x06\x08\x2a\x86\x48\xce\x3d\x03\x01\x07\x03\x42\x00";

/// A public key.
pub(super) enum PublicKey {
    /// Of minisign, as its text.
    Minisign(Minisign, String),
    /// Of cosign: a point of the curve P-256.
    P256(Vec<u8>),
}

impl PublicKey {
    /// Reads a key: its file, or the key itself; as the lock file keeps it, too.
    ///
    /// # Errors
    /// [`InstallError::Key`].
    pub(super) fn read(named: &str) -> Result<Self, InstallError> {
        let wrong = || InstallError::Key(named.to_owned());
        let text = match Path::new(named).is_file() {
            true => fs::read_to_string(named).map_err(InstallError::at(named))?,
            false => named.to_owned(),
        };
        if let Some(point) = text.strip_prefix("p256:") {
            let point = STANDARD.decode(point).map_err(|_| wrong())?;
            return Ok(Self::P256(point));
        }
        if text.contains("-----BEGIN") {
            let der =
                SubjectPublicKeyInfoDer::from_pem_slice(text.as_bytes()).map_err(|_| wrong())?;
            let point = der.strip_prefix(P256).ok_or_else(wrong)?;
            return Ok(Self::P256(point.to_vec()));
        }
        // The file has a comment before the key.
        let key = text.lines().rfind(|line| !line.trim().is_empty());
        let key = key.unwrap_or_default().trim();
        let read = Minisign::from_base64(key).map_err(|_| wrong())?;
        Ok(Self::Minisign(read, key.to_owned()))
    }

    /// As the lock file keeps it.
    pub(super) fn text(&self) -> String {
        match self {
            Self::Minisign(_, text) => text.clone(),
            Self::P256(point) => format!("p256:{}", STANDARD.encode(point)),
        }
    }

    /// Checks a detached signature of a file, as `minisign` writes it into `FILE.minisig`.
    ///
    /// # Errors
    /// What is wrong with it.
    pub(super) fn check_file(&self, bytes: &[u8], signature: &str) -> Result<(), String> {
        let Self::Minisign(key, _) = self else {
            return Err("a file is signed with minisign, and this is a key of cosign".to_owned());
        };
        let signature = Signature::decode(signature).map_err(|error| error.to_string())?;
        // Signatures of the whole file in place of its hash are old, and as good.
        key.verify(bytes, &signature, true)
            .map_err(|error| error.to_string())
    }

    /// Checks a signature of cosign: that the payload is signed, and is about the manifest with this digest.
    ///
    /// # Errors
    /// What is wrong with it.
    pub(super) fn check_artifact(
        &self,
        payload: &[u8],
        signature: &str,
        manifest: &str,
    ) -> Result<(), String> {
        let Self::P256(point) = self else {
            return Err(
                "an artifact is signed with cosign, and this is a key of minisign".to_owned(),
            );
        };
        let signature = STANDARD
            .decode(signature)
            .map_err(|error| error.to_string())?;
        UnparsedPublicKey::new(&ECDSA_P256_SHA256_ASN1, point)
            .verify(payload, &signature)
            .map_err(|_| "the signature is not by this key".to_owned())?;
        let payload: Payload =
            serde_json::from_slice(payload).map_err(|error| error.to_string())?;
        match payload.critical.image.digest == manifest {
            true => Ok(()),
            false => Err("the signature is of another artifact".to_owned()),
        }
    }
}

/// What cosign signs.
#[derive(Deserialize)]
struct Payload {
    critical: Critical,
}

#[derive(Deserialize)]
struct Critical {
    image: Image,
}

#[derive(Deserialize)]
struct Image {
    #[serde(rename = "docker-manifest-digest")]
    digest: String,
}
