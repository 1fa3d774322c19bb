//! An HTTP client for one request a connection, without encryption: enough for loopback.

use std::fmt::Write as _;
use std::io::{Read as _, Write as _};
use std::net::TcpStream;

use async_trait::async_trait;
use opentelemetry_http::{Bytes, HttpClient, HttpError, Request, Response};

#[derive(Debug)]
pub(crate) struct LoopbackClient;

#[async_trait]
impl HttpClient for LoopbackClient {
    async fn send_bytes(&self, request: Request<Bytes>) -> Result<Response<Bytes>, HttpError> {
        let authority = request.uri().authority().ok_or("the endpoint has no host")?.as_str();
        let mut head = format!(
            "{} {} HTTP/1.1\r\nhost: {authority}\r\ncontent-length: {}\r\nconnection: close\r\n",
            request.method(),
            request.uri().path(),
            request.body().len()
        );
        for (name, value) in request.headers() {
            write!(head, "{name}: {}\r\n", value.to_str()?)?;
        }
        let mut connection = TcpStream::connect(authority)?;
        connection.write_all(head.as_bytes())?;
        connection.write_all(b"\r\n")?;
        connection.write_all(request.body())?;

        let mut answer = String::new();
        connection.read_to_string(&mut answer)?;
        let status: u16 = answer.split(' ').nth(1).ok_or("no status in the answer")?.parse()?;
        Ok(Response::builder().status(status).body(Bytes::new())?)
    }
}
