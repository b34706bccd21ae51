//! A registry on loopback: Debian's `docker-registry`, with its files in a folder of the test.

use std::{
    fs,
    io::{BufRead as _, BufReader},
    process::{Child, Command, Stdio},
};

use base64::{Engine as _, engine::general_purpose::STANDARD};
use oci_client::{
    Client, Reference,
    client::{ClientConfig, ClientProtocol, Config, ImageLayer},
    manifest::OciImageManifest,
    secrets::RegistryAuth,
};
use ring::{
    rand::SystemRandom,
    signature::{ECDSA_P256_SHA256_ASN1_SIGNING, EcdsaKeyPair, KeyPair as _},
};
use serde_json::json;
use tempfile::TempDir;

/// Media types of the standard layout.
pub(crate) const CONFIG: &str = "application/vnd.wasm.config.v0+json";
pub(crate) const LAYER: &str = "application/wasm";

/// The password of whoever a private registry lets in, and its bcrypt hash.
pub(crate) const PASSWORD: &str = "pw-canary-of-the-registry";
const PASSWORD_HASH: &str = "$2y$04$abcdefghijklmnopqrstuuKoS9PkMQhaU.WjrGMnjr9bBBJo5xTCS";

/// A registry; it ends with the value.
pub(crate) struct Registry {
    child: Child,
    /// Host and port.
    pub(crate) address: String,
    auth: RegistryAuth,
    _folder: TempDir,
}

impl Registry {
    /// Starts it on a free port, and returns when it listens.
    pub(crate) fn start() -> Self {
        Self::start_for(None)
    }

    /// One that only lets a user in; the password is [`PASSWORD`].
    pub(crate) fn private(user: &str) -> Self {
        Self::start_for(Some(user))
    }

    fn start_for(user: Option<&str>) -> Self {
        let folder = TempDir::new().unwrap();
        let root = folder.path().join("data");
        let config = folder.path().join("config.yml");
        let text = format!(
            "version: 0.1\nlog:\n  level: info\nstorage:\n  filesystem:\n    rootdirectory: {}\nhttp:\n  addr: 127.0.0.1:0\n",
            root.display()
        );
        let mut text = text;
        if let Some(user) = user {
            let users = folder.path().join("users");
            fs::write(&users, format!("{user}:{PASSWORD_HASH}\n")).unwrap();
            text.push_str(&format!(
                "auth:\n  htpasswd:\n    realm: test\n    path: {}\n",
                users.display()
            ));
        }
        fs::write(&config, text).unwrap();
        // `cargo xtask` names the one that it has unpacked.
        let program = std::env::var_os("WINDLASS_REGISTRY").unwrap_or("docker-registry".into());
        let mut child = Command::new(program)
            .arg("serve")
            .arg(&config)
            .stdout(Stdio::null())
            .stderr(Stdio::piped())
            .stdin(Stdio::null())
            .spawn()
            .expect("docker-registry is installed: `cargo xtask setup` does it");
        let lines = BufReader::new(child.stderr.take().unwrap()).lines();
        let mut address = None;
        let mut lines = lines.map_while(Result::ok);
        for line in lines.by_ref() {
            if let Some((_, rest)) = line.split_once("listening on ") {
                address = rest.split('"').next().map(str::to_owned);
                break;
            }
        }
        // A registry whose standard error is full would wait.
        std::thread::spawn(move || lines.for_each(drop));
        Self {
            child,
            address: address.expect("the registry says where it listens"),
            auth: match user {
                None => RegistryAuth::Anonymous,
                Some(user) => RegistryAuth::Basic(user.to_owned(), PASSWORD.to_owned()),
            },
            _folder: folder,
        }
    }

    fn reference(&self, name: &str) -> Reference {
        format!("{}/{name}", self.address).parse().unwrap()
    }

    /// Pushes layers of these kinds under a name, and returns the digest of the manifest.
    pub(crate) fn push(&self, name: &str, config: &str, layers: &[(&[u8], &str)]) -> String {
        let layers: Vec<ImageLayer> = layers
            .iter()
            .map(|(content, kind)| ImageLayer::new(content.to_vec(), (*kind).to_owned(), None))
            .collect();
        self.push_all(name, config, &layers)
    }

    fn push_all(&self, name: &str, config: &str, layers: &[ImageLayer]) -> String {
        // Nothing is encrypted here, but the client is made of what could.
        let _ = rustls::crypto::ring::default_provider().install_default();
        let client = Client::try_from(ClientConfig {
            protocol: ClientProtocol::Http,
            ..ClientConfig::default()
        })
        .unwrap();
        let config = Config::new(b"{}".to_vec(), config.to_owned(), None);
        let manifest = OciImageManifest::build(layers, &config, None);
        let reference = self.reference(name);
        let runtime = tokio::runtime::Runtime::new().unwrap();
        runtime.block_on(async {
            let pushed = client.push(&reference, layers, config, &self.auth, Some(manifest));
            pushed.await.unwrap();
            let digest = client.fetch_manifest_digest(&reference, &self.auth).await;
            digest.unwrap()
        })
    }

    /// Signs a manifest as cosign does.
    pub(crate) fn sign(&self, repository: &str, about: &str, tagged: &str, key: &SigningKey) {
        let payload = json!({
            "critical": {
                "identity": {"docker-reference": ""},
                "image": {"docker-manifest-digest": about},
                "type": "cosign container image signature",
            },
            "optional": null,
        });
        let payload = payload.to_string().into_bytes();
        let signature = key.0.sign(&SystemRandom::new(), &payload).unwrap();
        let signature = STANDARD.encode(signature.as_ref());
        let annotations = [("dev.cosignproject.cosign/signature".to_owned(), signature)];
        let kind = "application/vnd.dev.cosign.simplesigning.v1+json".to_owned();
        let layer = ImageLayer::new(payload, kind, Some(annotations.into_iter().collect()));
        let tag = format!("{repository}:{}.sig", tagged.replace(':', "-"));
        let config = "application/vnd.oci.image.config.v1+json";
        self.push_all(&tag, config, &[layer]);
    }
}

impl Drop for Registry {
    fn drop(&mut self) {
        let _ = self.child.kill();
        let _ = self.child.wait();
    }
}

/// A key as `cosign generate-key-pair` makes it.
pub(crate) struct SigningKey(EcdsaKeyPair);

impl SigningKey {
    pub(crate) fn new() -> Self {
        let random = SystemRandom::new();
        let algorithm = &ECDSA_P256_SHA256_ASN1_SIGNING;
        let pkcs8 = EcdsaKeyPair::generate_pkcs8(algorithm, &random).unwrap();
        Self(EcdsaKeyPair::from_pkcs8(algorithm, pkcs8.as_ref(), &random).unwrap())
    }

    /// The public key in PEM form.
    pub(crate) fn public(&self) -> String {
        let mut der = vec![
            0x30, 0x59, 0x30, 0x13, 0x06, 0x07, 0x2a, 0x86, 0x48, 0xce, 0x3d, 0x02, 0x01, 0x06,
            0x08, 0x2a, 0x86, 0x48, 0xce, 0x3d, 0x03, 0x01, 0x07, 0x03, 0x42, 0x00,
        ];
        der.extend_from_slice(self.0.public_key().as_ref());
        let text = STANDARD.encode(der);
        let lines: Vec<&str> = (0..text.len())
            .step_by(64)
            .map(|at| &text[at..text.len().min(at + 64)])
            .collect();
        format!(
            "-----BEGIN PUBLIC KEY-----\n{}\n-----END PUBLIC KEY-----\n",
            lines.join("\n")
        )
    }
}
