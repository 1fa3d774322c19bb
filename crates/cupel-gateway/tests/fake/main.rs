//! A provider that is none: speaks as each of them does, and checks what it is sent.
//!
//! `cargo run --example fake-upstream -- 127.0.0.1:9999`. What it was sent is told at `/_fake/seen`.

#[path = "server.rs"]
mod server;

#[tokio::main]
async fn main() {
    let address = std::env::args().nth(1).unwrap_or_else(|| "127.0.0.1:0".to_owned());
    let fake = server::Fake::start_at(&address).await;
    println!("listening at {}", fake.address);
    std::future::pending::<()>().await;
}
