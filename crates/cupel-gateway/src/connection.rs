//! Connections of clients: so many from one address, and none to a client that does not read.

use std::collections::HashMap;
use std::future::Future as _;
use std::io;
use std::net::IpAddr;
use std::pin::Pin;
use std::sync::{Arc, Mutex, PoisonError};
use std::task::{Context, Poll};
use std::time::Duration;

use tokio::io::{AsyncRead, AsyncWrite, ReadBuf};
use tokio::net::TcpStream;
use tokio::time::{Sleep, sleep};

/// Connections at once, by the address of the client.
#[derive(Debug, Default)]
pub(crate) struct Clients(Mutex<HashMap<IpAddr, usize>>);

/// One of the connections of a client.
#[derive(Debug)]
pub(crate) struct Counted {
    clients: Arc<Clients>,
    client: IpAddr,
}

impl Clients {
    /// One connection more, unless the client has `most`.
    pub(crate) fn count(self: &Arc<Self>, client: IpAddr, most: usize) -> Option<Counted> {
        // Whoever has an address of the sixth version has 2⁶⁴ of them.
        let client = match client.to_canonical() {
            IpAddr::V6(address) => {
                let [a, b, c, d, ..] = address.segments();
                IpAddr::from([a, b, c, d, 0, 0, 0, 0])
            }
            address @ IpAddr::V4(_) => address,
        };
        let mut counts = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        let count = counts.entry(client).or_default();
        if *count >= most.max(1) {
            return None;
        }
        *count += 1;
        Some(Counted { clients: self.clone(), client })
    }
}

impl Drop for Counted {
    fn drop(&mut self) {
        let mut counts = self.clients.0.lock().unwrap_or_else(PoisonError::into_inner);
        if let Some(count) = counts.get_mut(&self.client) {
            *count -= 1;
            if *count == 0 {
                counts.remove(&self.client);
            }
        }
    }
}

/// A connection that ends if the client takes nothing for too long of what there is for it.
pub(crate) struct Connection {
    stream: TcpStream,
    patience: Duration,
    /// Until when the client is waited for, if it is.
    waits: Option<Pin<Box<Sleep>>>,
}

impl Connection {
    pub(crate) fn new(stream: TcpStream, patience: Duration) -> Self {
        Self { stream, patience: patience.min(Duration::from_secs(86_400)), waits: None }
    }

    /// Passes on what was written, or an error if nothing could be for too long.
    fn watch<T>(
        &mut self,
        context: &mut Context<'_>,
        written: Poll<io::Result<T>>,
    ) -> Poll<io::Result<T>> {
        if written.is_ready() {
            self.waits = None;
            return written;
        }
        let patience = self.patience;
        let waits = self.waits.get_or_insert_with(|| Box::pin(sleep(patience)));
        match waits.as_mut().poll(context) {
            Poll::Pending => Poll::Pending,
            Poll::Ready(()) => Poll::Ready(Err(io::ErrorKind::TimedOut.into())),
        }
    }
}

impl AsyncRead for Connection {
    fn poll_read(
        mut self: Pin<&mut Self>,
        context: &mut Context<'_>,
        buffer: &mut ReadBuf<'_>,
    ) -> Poll<io::Result<()>> {
        Pin::new(&mut self.stream).poll_read(context, buffer)
    }
}

impl AsyncWrite for Connection {
    fn poll_write(
        self: Pin<&mut Self>,
        context: &mut Context<'_>,
        bytes: &[u8],
    ) -> Poll<io::Result<usize>> {
        let this = self.get_mut();
        let written = Pin::new(&mut this.stream).poll_write(context, bytes);
        this.watch(context, written)
    }

    fn poll_write_vectored(
        self: Pin<&mut Self>,
        context: &mut Context<'_>,
        slices: &[io::IoSlice<'_>],
    ) -> Poll<io::Result<usize>> {
        let this = self.get_mut();
        let written = Pin::new(&mut this.stream).poll_write_vectored(context, slices);
        this.watch(context, written)
    }

    fn is_write_vectored(&self) -> bool {
        self.stream.is_write_vectored()
    }

    fn poll_flush(self: Pin<&mut Self>, context: &mut Context<'_>) -> Poll<io::Result<()>> {
        let this = self.get_mut();
        let flushed = Pin::new(&mut this.stream).poll_flush(context);
        this.watch(context, flushed)
    }

    fn poll_shutdown(self: Pin<&mut Self>, context: &mut Context<'_>) -> Poll<io::Result<()>> {
        let this = self.get_mut();
        let shut = Pin::new(&mut this.stream).poll_shutdown(context);
        this.watch(context, shut)
    }
}

/// Raises the soft limit of descriptors to the hard one, and returns it: many systems leave 1,024.
#[cfg(unix)]
pub(crate) fn raise_descriptors() -> Option<u64> {
    use rustix::process::{Resource, Rlimit, getrlimit, setrlimit};
    let Rlimit { current, maximum } = getrlimit(Resource::Nofile);
    let raised = setrlimit(Resource::Nofile, Rlimit { current: maximum, maximum });
    if raised.is_ok() { maximum } else { current }
}

#[cfg(not(unix))]
pub(crate) fn raise_descriptors() -> Option<u64> {
    None
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn connections_are_counted_by_client() {
        let clients = Arc::new(Clients::default());
        let count = |address: &str| clients.count(address.parse().unwrap(), 2);
        let held = [count("10.0.0.1"), count("::ffff:10.0.0.1")];
        assert!(held.iter().all(Option::is_some) && count("10.0.0.1").is_none());
        let others = [count("2001:db8::1"), count("2001:db8::2:1")];
        assert!(
            others.iter().all(Option::is_some) && count("2001:db8::9").is_none(),
            "one network"
        );
        assert!(count("2001:db8:0:1::1").is_some());
        drop(held);
        assert!(count("10.0.0.1").is_some());
        drop(others);
        assert!(clients.0.lock().unwrap().is_empty(), "nothing is kept of who left");
    }

    #[test]
    fn the_soft_limit_of_descriptors_becomes_the_hard_one() {
        #[cfg(unix)]
        {
            let most = raise_descriptors();
            let limit = rustix::process::getrlimit(rustix::process::Resource::Nofile);
            assert_eq!((limit.current, limit.current), (limit.maximum, most));
        }
    }
}
