//! What a server shows to its clients: certificates, their keys, and which of them a client gets.

use rustls::crypto::{CryptoProvider, ring};
use rustls::pki_types::pem::{self, PemObject};
use rustls::pki_types::{CertificateDer, PrivateKeyDer};
use rustls::server::{ClientHello, ProducesTickets, ResolvesServerCert};
use rustls::sign::CertifiedKey;
use rustls::{InconsistentKeys, ServerConfig, version};
use std::cell::RefCell;
use std::collections::HashMap;
use std::fmt;
use std::path::{Path, PathBuf};
use std::sync::Arc;

/// Why certificates cannot be used: one line, which names the file.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct TlsError(String);

impl fmt::Display for TlsError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.0)
    }
}

impl std::error::Error for TlsError {}

/// The files of a certificate, in PEM format.
#[derive(Clone, Debug)]
pub struct CertificateFiles {
    /// The certificate, and those of the authorities between it and one that clients know.
    pub certificate: PathBuf,
    /// Its key. It may be the same file.
    pub key: PathBuf,
}

/// The certificates of sockets that listen. They can be changed at any time: existing connections do not notice.
pub struct Tls {
    files: RefCell<Vec<CertificateFiles>>,
    certificates: RefCell<Certificates>,
    config: RefCell<Arc<ServerConfig>>,
    provider: Arc<CryptoProvider>,
    /// Tickets with which clients resume their sessions stay valid when certificates are replaced.
    tickets: Arc<dyn ProducesTickets>,
    is_13_only: bool,
}

impl Tls {
    /// Reads the first certificate. Clients that name no host, or one that is in no certificate, get it. `is_13_only`:
    /// version 1.2 is refused.
    ///
    /// # Errors
    /// A file cannot be read, or is wrong.
    pub fn new(first: CertificateFiles, is_13_only: bool) -> Result<Tls, TlsError> {
        let provider = Arc::new(ring::default_provider());
        let tickets =
            ring::Ticketer::new().map_err(|error| TlsError(format!("There are no random numbers: {error}")))?;
        let mut certificates = Certificates::default();
        certificates.add(&first, &provider)?;
        let config = configure(certificates.clone(), &provider, &tickets, is_13_only)?;
        Ok(Tls {
            files: RefCell::new(vec![first]),
            certificates: RefCell::new(certificates),
            config: RefCell::new(config),
            provider,
            tickets,
            is_13_only,
        })
    }

    /// Adds a certificate, for clients that ask for a host that it names.
    ///
    /// # Errors
    /// A file cannot be read, or is wrong. Then nothing has changed.
    pub fn add(&self, further: CertificateFiles) -> Result<(), TlsError> {
        let mut certificates = self.certificates.borrow().clone();
        certificates.add(&further, &self.provider)?;
        self.set(certificates)?;
        self.files.borrow_mut().push(further);
        Ok(())
    }

    /// Reads all files again, for connections that are accepted from now on.
    ///
    /// # Errors
    /// A file cannot be read, or is wrong. Then nothing has changed.
    pub fn reload(&self) -> Result<(), TlsError> {
        let mut certificates = Certificates::default();
        self.files.borrow().iter().try_for_each(|one| certificates.add(one, &self.provider))?;
        self.set(certificates)
    }

    fn set(&self, certificates: Certificates) -> Result<(), TlsError> {
        let config = configure(certificates.clone(), &self.provider, &self.tickets, self.is_13_only)?;
        *self.certificates.borrow_mut() = certificates;
        *self.config.borrow_mut() = config;
        Ok(())
    }

    /// The configuration for new connections.
    pub(crate) fn config(&self) -> Arc<ServerConfig> {
        Arc::clone(&self.config.borrow())
    }
}

impl fmt::Debug for Tls {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_tuple("Tls").field(&self.files.borrow()).finish()
    }
}

fn configure(
    certificates: Certificates,
    provider: &Arc<CryptoProvider>,
    tickets: &Arc<dyn ProducesTickets>,
    is_13_only: bool,
) -> Result<Arc<ServerConfig>, TlsError> {
    let versions: &[_] = if is_13_only { &[&version::TLS13] } else { &[&version::TLS13, &version::TLS12] };
    let mut config = ServerConfig::builder_with_provider(Arc::clone(provider))
        .with_protocol_versions(versions)
        .map_err(|error| TlsError(error.to_string()))?
        .with_no_client_auth()
        .with_cert_resolver(Arc::new(certificates));
    config.alpn_protocols = vec![b"h2".to_vec(), b"http/1.1".to_vec()];
    config.ticketer = Arc::clone(tickets);
    Ok(Arc::new(config))
}

/// The certificates, by the hosts that they name.
#[derive(Clone, Default, Debug)]
struct Certificates {
    all: Vec<Arc<CertifiedKey>>,
    /// Hosts in lower case, also such as `*.example.com`. There may be several certificates for one, with keys of different
    /// kinds.
    hosts: HashMap<String, Vec<usize>>,
}

impl Certificates {
    fn add(&mut self, files: &CertificateFiles, provider: &CryptoProvider) -> Result<(), TlsError> {
        let (path, key_path) = (files.certificate.display(), files.key.display());
        let chain = read_chain(&files.certificate)?;
        let Some(own) = chain.first() else {
            return Err(TlsError(format!("There is no certificate in {path}")));
        };
        let names: Vec<String> = webpki::EndEntityCert::try_from(own)
            .map_err(|error| TlsError(format!("The first certificate in {path} is malformed: {error}")))?
            .valid_dns_names()
            .map(str::to_ascii_lowercase)
            .collect();
        let key = provider
            .key_provider
            .load_private_key(read_key(&files.key)?)
            .map_err(|_| TlsError(format!("The key in {key_path} is malformed, or of a kind that is not supported")))?;
        let certified = CertifiedKey::new(chain, key);
        match certified.keys_match() {
            Ok(()) | Err(rustls::Error::InconsistentKeys(InconsistentKeys::Unknown)) => {}
            Err(_) => {
                return Err(TlsError(format!("The key in {key_path} is not that of the first certificate in {path}")));
            }
        }
        for name in names {
            self.hosts.entry(name).or_default().push(self.all.len());
        }
        self.all.push(Arc::new(certified));
        Ok(())
    }

    /// Returns the certificates for a host, the better ones first.
    fn of(&self, host: &str) -> impl Iterator<Item = &Arc<CertifiedKey>> {
        let host = host.to_ascii_lowercase();
        let any = host.split_once('.').map(|(_, domain)| format!("*.{domain}"));
        let exact = self.hosts.get(&host).into_iter();
        let exact = exact.chain(any.and_then(|any| self.hosts.get(&any)));
        exact.flatten().filter_map(|index| self.all.get(*index))
    }
}

impl ResolvesServerCert for Certificates {
    fn resolve(&self, hello: ClientHello<'_>) -> Option<Arc<CertifiedKey>> {
        let fits = |one: &&Arc<CertifiedKey>| one.key.choose_scheme(hello.signature_schemes()).is_some();
        let named = hello.server_name().and_then(|host| self.of(host).find(fits));
        named.or_else(|| self.all.iter().find(fits)).cloned()
    }
}

fn read(path: &Path, what: &str) -> Result<Vec<u8>, TlsError> {
    std::fs::read(path).map_err(|error| TlsError(format!("The {what} {} cannot be read: {error}", path.display())))
}

fn malformed(path: &Path, error: &pem::Error) -> TlsError {
    TlsError(format!("{} is no file in PEM format: {error}", path.display()))
}

fn read_chain(path: &Path) -> Result<Vec<CertificateDer<'static>>, TlsError> {
    let text = read(path, "certificate")?;
    CertificateDer::pem_slice_iter(&text).collect::<Result<_, _>>().map_err(|error| malformed(path, &error))
}

fn read_key(path: &Path) -> Result<PrivateKeyDer<'static>, TlsError> {
    let text = read(path, "key")?;
    PrivateKeyDer::from_pem_slice(&text).map_err(|error| {
        let has = |word: &[u8]| text.windows(word.len()).any(|at| at == word);
        match error {
            // `ENCRYPTED PRIVATE KEY`, or a line of its own in the older format.
            _ if has(b"ENCRYPTED") => TlsError(format!("The key in {} is encrypted", path.display())),
            pem::Error::NoItemsFound => TlsError(format!("There is no key in {}", path.display())),
            error => malformed(path, &error),
        }
    })
}
