//! Certificates of upstreams are checked.

use std::path::Path;
use std::sync::Arc;

use hyper_util::rt::TokioIo;
use hyper_util::service::TowerToHyperService;
use rustls::pki_types::pem::PemObject as _;
use rustls::pki_types::{CertificateDer, PrivateKeyDer};
use tokio::net::TcpListener;
use tokio_rustls::TlsAcceptor;

use crate::server::{Fake, Sight};
use crate::support::{CHAT, Running, history, post};

fn key(name: &str) -> std::path::PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/it/keys").join(name)
}

/// The upstream behind a certificate that nobody signed.
async fn secure() -> (u16, Arc<Sight>) {
    let certificate = CertificateDer::from_pem_file(key("cert.pem")).unwrap();
    let private = PrivateKeyDer::from_pem_file(key("key.pem")).unwrap();
    let provider = Arc::new(rustls::crypto::ring::default_provider());
    let config = rustls::ServerConfig::builder_with_provider(provider)
        .with_safe_default_protocol_versions()
        .unwrap()
        .with_no_client_auth()
        .with_single_cert(vec![certificate], private)
        .unwrap();
    let acceptor = TlsAcceptor::from(Arc::new(config));
    let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
    let port = listener.local_addr().unwrap().port();
    let sight = Arc::new(Sight::default());
    let app = Fake::app(&sight);
    tokio::spawn(async move {
        while let Ok((stream, _)) = listener.accept().await {
            let (acceptor, app) = (acceptor.clone(), app.clone());
            tokio::spawn(async move {
                let Ok(stream) = acceptor.accept(stream).await else { return };
                let service = TowerToHyperService::new(app);
                let builder = hyper::server::conn::http1::Builder::new();
                let _ = builder.serve_connection(TokioIo::new(stream), service).await;
            });
        }
    });
    (port, sight)
}

#[tokio::test]
async fn a_certificate_that_nobody_signed_is_refused_unless_it_is_named() {
    let (port, sight) = secure().await;
    let body = history(CHAT, 1).to_string();
    let upstream = format!("https://localhost:{port}");
    let trusted = format!("max = 1000\nca = '{}'", key("cert.pem").display());
    let gateway = Running::start(&upstream, &trusted).await;
    let answer = post(&format!("{}{CHAT}", gateway.url), &[], body.clone()).await;
    assert_eq!(answer.status, 200, "{}", answer.text());
    // Roots of some other name, so that there is something to trust on every machine.
    let other = Running::start(&upstream, "max = 1000").await;
    let answer = post(&format!("{}{CHAT}", other.url), &[], body.clone()).await;
    assert_eq!(answer.status, 502, "{}", answer.text());
    assert!(answer.text().contains("certificate"), "{}", answer.text());
    let wrong_name = format!("https://127.0.0.2:{port}");
    let gateway = Running::start(&wrong_name, &trusted).await;
    let answer = post(&format!("{}{CHAT}", gateway.url), &[], body).await;
    assert_eq!(answer.status, 502, "{}", answer.text());
    assert_eq!(sight.count.load(std::sync::atomic::Ordering::SeqCst), 1);
}
