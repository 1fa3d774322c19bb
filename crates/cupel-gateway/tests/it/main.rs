//! A gateway between a client and an upstream that is none, over real sockets.

mod fails;
mod fits;
mod guards;
mod holds;
mod lives;
mod pages;
mod passes;
mod redis;
mod serves;
mod support;
mod tells;
mod tls;
mod too_long;

#[path = "../fake/server.rs"]
mod server;
