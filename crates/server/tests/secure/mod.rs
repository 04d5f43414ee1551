//! Clients with TLS, and certificates, which openssl makes.
#![allow(dead_code)]

use crate::world::{Event, World, answer_at_once};
use rustls::client::danger::{HandshakeSignatureValid, ServerCertVerified, ServerCertVerifier};
use rustls::crypto::{CryptoProvider, ring, verify_tls12_signature, verify_tls13_signature};
use rustls::pki_types::pem::PemObject;
use rustls::pki_types::{CertificateDer, ServerName, UnixTime};
use rustls::version::{TLS12, TLS13};
use rustls::{ClientConfig, ClientConnection, DigitallySignedStruct, Error, SignatureScheme};
use spindle_server::{CertificateFiles, Settings, Tls};
use std::cell::{Cell, RefCell};
use std::io::{ErrorKind, Read, Write};
use std::net::TcpStream;
use std::path::PathBuf;
use std::process::Command;
use std::rc::Rc;
use std::sync::Arc;
use tempfile::TempDir;

/// A folder of certificates.
pub struct Folder(pub TempDir);

impl Folder {
    pub fn new() -> Folder {
        Folder(TempDir::new().unwrap())
    }

    pub fn path(&self, name: &str) -> PathBuf {
        self.0.path().join(name)
    }

    pub fn openssl(&self, arguments: &str) {
        let made =
            Command::new("openssl").args(arguments.split_whitespace()).current_dir(self.0.path()).output().unwrap();
        assert!(made.status.success(), "{}", String::from_utf8_lossy(&made.stderr));
    }

    /// Makes a certificate for hosts.
    pub fn make(&self, name: &str, kind: &str, hosts: &[&str]) -> CertificateFiles {
        let hosts: Vec<String> = hosts.iter().map(|host| format!("DNS:{host}")).collect();
        self.openssl(&format!(
            "req -x509 -newkey {kind} -nodes -days 30 -keyout {name}.key -out {name}.pem -subj /CN={name} -addext subjectAltName={}",
            hosts.join(",")
        ));
        self.files(name)
    }

    pub fn files(&self, name: &str) -> CertificateFiles {
        CertificateFiles { certificate: self.path(&format!("{name}.pem")), key: self.path(&format!("{name}.key")) }
    }

    pub fn certificate(&self, name: &str) -> CertificateDer<'static> {
        CertificateDer::from_pem_file(self.path(&format!("{name}.pem"))).unwrap()
    }
}

pub const ECDSA: &str = "ec -pkeyopt ec_paramgen_curve:P-256";
pub const RSA: &str = "rsa:2048";

/// A server that echoes, with a certificate for `a.example`.
pub fn world(settings: Settings) -> (World, Folder) {
    world_with(settings, answer_at_once)
}

pub fn world_with(settings: Settings, handler: impl FnMut(&World, Event) + 'static) -> (World, Folder) {
    let folder = Folder::new();
    let tls = Tls::new(folder.make("a", ECDSA, &["a.example"]), false).unwrap();
    (World::with_tls(settings, Some(Rc::new(tls)), handler), folder)
}

/// Believes any certificate: tests look which one it is.
#[derive(Debug)]
struct AnyCertificate(Arc<CryptoProvider>);

impl ServerCertVerifier for AnyCertificate {
    fn verify_server_cert(
        &self,
        _: &CertificateDer<'_>,
        _: &[CertificateDer<'_>],
        _: &ServerName<'_>,
        _: &[u8],
        _: UnixTime,
    ) -> Result<ServerCertVerified, Error> {
        Ok(ServerCertVerified::assertion())
    }

    fn verify_tls12_signature(
        &self,
        message: &[u8],
        cert: &CertificateDer<'_>,
        dss: &DigitallySignedStruct,
    ) -> Result<HandshakeSignatureValid, Error> {
        verify_tls12_signature(message, cert, dss, &self.0.signature_verification_algorithms)
    }

    fn verify_tls13_signature(
        &self,
        message: &[u8],
        cert: &CertificateDer<'_>,
        dss: &DigitallySignedStruct,
    ) -> Result<HandshakeSignatureValid, Error> {
        verify_tls13_signature(message, cert, dss, &self.0.signature_verification_algorithms)
    }

    fn supported_verify_schemes(&self) -> Vec<SignatureScheme> {
        self.0.signature_verification_algorithms.supported_schemes()
    }
}

/// Returns what clients use that know only what this provides, with version 1.2.
pub fn config_with(provider: CryptoProvider) -> ClientConfig {
    let provider = Arc::new(provider);
    ClientConfig::builder_with_provider(Arc::clone(&provider))
        .with_protocol_versions(&[&TLS12])
        .unwrap()
        .dangerous()
        .with_custom_certificate_verifier(Arc::new(AnyCertificate(provider)))
        .with_no_client_auth()
}

/// Returns what clients use that offer these protocols, with one version of TLS or with both.
pub fn config(protocols: &[&str], version: Option<u16>) -> ClientConfig {
    let provider = Arc::new(ring::default_provider());
    let versions: &[_] = match version {
        Some(12) => &[&TLS12],
        Some(13) => &[&TLS13],
        _ => &[&TLS12, &TLS13],
    };
    let mut config = ClientConfig::builder_with_provider(Arc::clone(&provider))
        .with_protocol_versions(versions)
        .unwrap()
        .dangerous()
        .with_custom_certificate_verifier(Arc::new(AnyCertificate(provider)))
        .with_no_client_auth();
    config.alpn_protocols = protocols.iter().map(|name| name.as_bytes().to_vec()).collect();
    config
}

/// A client.
pub struct Secure {
    pub stream: TcpStream,
    pub tls: RefCell<ClientConnection>,
    plain: RefCell<Vec<u8>>,
    /// The server has told that what it has sent is all.
    pub is_whole: Cell<bool>,
    /// The connection has ended.
    pub is_closed: Cell<bool>,
    /// Reason the session has failed.
    pub failure: RefCell<Option<Error>>,
}

impl Secure {
    /// Connects. The handshake has not begun.
    pub fn new(world: &World, config: &Arc<ClientConfig>, host: &str) -> Secure {
        let before = world.server.stats().accepted;
        let stream = TcpStream::connect(&world.address).unwrap();
        stream.set_nonblocking(true).unwrap();
        stream.set_nodelay(true).unwrap();
        world.until(|| (world.server.stats().accepted > before).then_some(()));
        let tls = ClientConnection::new(Arc::clone(config), ServerName::try_from(host.to_owned()).unwrap()).unwrap();
        Secure {
            stream,
            tls: RefCell::new(tls),
            plain: RefCell::default(),
            is_whole: Cell::new(false),
            is_closed: Cell::new(false),
            failure: RefCell::default(),
        }
    }

    /// Connects to `a.example`, and completes the handshake.
    pub fn connect(world: &World, protocols: &[&str]) -> Secure {
        let client = Secure::new(world, &Arc::new(config(protocols, None)), "a.example");
        client.handshake(world);
        client
    }

    pub fn handshake(&self, world: &World) {
        world.until(|| {
            self.work();
            assert!(!self.is_closed.get(), "{:?}", self.failure.borrow());
            (!self.tls.borrow().is_handshaking()).then_some(())
        });
        self.flush(world);
    }

    /// Sends what there is to be sent, and reads what has come.
    pub fn work(&self) {
        self.push();
        self.pull();
    }

    pub fn push(&self) {
        let mut tls = self.tls.borrow_mut();
        while tls.wants_write() {
            match tls.write_tls(&mut &self.stream) {
                Ok(_) => {}
                Err(error) if error.kind() == ErrorKind::WouldBlock => return,
                Err(_) => return self.is_closed.set(true),
            }
        }
    }

    pub fn pull(&self) {
        let mut tls = self.tls.borrow_mut();
        while !self.is_closed.get() {
            match tls.read_tls(&mut &self.stream) {
                Ok(0) => self.is_closed.set(true),
                Ok(_) => {}
                Err(error) if error.kind() == ErrorKind::WouldBlock => break,
                Err(_) => self.is_closed.set(true),
            }
            match tls.process_new_packets() {
                Ok(state) => self.is_whole.set(self.is_whole.get() | state.peer_has_closed()),
                Err(error) => {
                    self.failure.borrow_mut().get_or_insert(error);
                    self.is_closed.set(true);
                }
            }
            let _ = tls.reader().read_to_end(&mut self.plain.borrow_mut());
        }
    }

    pub fn flush(&self, world: &World) {
        world.until(|| {
            self.push();
            (!self.tls.borrow().wants_write() || self.is_closed.get()).then_some(())
        });
    }

    pub fn send(&self, world: &World, bytes: impl AsRef<[u8]>) {
        for piece in bytes.as_ref().chunks(32 << 10) {
            self.tls.borrow_mut().writer().write_all(piece).unwrap();
            self.flush(world);
        }
        world.step();
    }

    /// Tells the server that this is all, and closes its direction.
    pub fn finish(&self, world: &World) {
        self.tls.borrow_mut().send_close_notify();
        self.flush(world);
        let _ = self.stream.shutdown(std::net::Shutdown::Write);
    }

    /// Closes its direction without a word of TLS.
    pub fn cut(&self) {
        let _ = self.stream.shutdown(std::net::Shutdown::Write);
    }

    pub fn bytes(&self) -> Vec<u8> {
        self.work();
        self.plain.borrow().clone()
    }

    pub fn text(&self) -> String {
        String::from_utf8_lossy(&self.bytes()).into_owned()
    }

    pub fn expect(&self, world: &World, text: &str) -> String {
        world.until(|| Some(self.text()).filter(|got| got.contains(text)))
    }

    /// Returns all that comes until the server closes the connection.
    pub fn rest(&self, world: &World) -> String {
        world.until(|| {
            self.work();
            self.is_closed.get().then_some(())
        });
        self.text()
    }

    pub fn certificate(&self) -> CertificateDer<'static> {
        self.tls.borrow().peer_certificates().unwrap()[0].clone().into_owned()
    }
}
