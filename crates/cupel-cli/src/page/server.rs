//! Serves one page to the browser of this machine, and nothing to anybody else.
//!
//! Other users of the machine can reach a loopback port: the page is for who has its token, which comes in
//! the address once and in a cookie from then on.

use std::io::{self, Read, Write};
use std::net::{Ipv4Addr, SocketAddr, TcpListener, TcpStream};
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};
use std::thread;
use std::time::Duration;

use cupel_page::{Asset, CONTENT_SECURITY_POLICY, assets};

/// The longest head of a request that a browser of this machine has reason to send.
const LONGEST_HEAD: usize = 16 * 1024;
/// Time that a client may be silent.
const PATIENCE: Duration = Duration::from_secs(5);
/// Number of clients that are answered at once.
const MOST_CLIENTS: usize = 32;

/// A page on the loopback interface.
pub(crate) struct Server {
    listener: TcpListener,
    site: Arc<Site>,
}

/// Site: the pages, and their data.
struct Site {
    port: u16,
    page: String,
    token: String,
    /// True if the address opens the page once alone: that of a browser that was started with it can be
    /// read by others, in the list of processes.
    opens_once: bool,
    is_opened: AtomicBool,
    assets: Vec<Asset>,
    clients: AtomicUsize,
}

/// Answer to a client.
struct Answer<'a> {
    status: &'static str,
    mime: &'static str,
    body: &'a str,
    cookie: Option<String>,
}

impl<'a> Answer<'a> {
    fn refusal(status: &'static str, body: &'a str) -> Self {
        Self { status, mime: "text/plain; charset=utf-8", body, cookie: None }
    }
}

impl Server {
    /// Listens on a port of the loopback interface; 0 takes a free one. With `opens_once` the address is
    /// good for one browser.
    pub(crate) fn bind(port: u16, page: String, opens_once: bool) -> io::Result<Self> {
        let listener = TcpListener::bind(SocketAddr::from((Ipv4Addr::LOCALHOST, port)))?;
        let port = listener.local_addr()?.port();
        let site = Site::new(port, page, random_token()?, opens_once);
        Ok(Self { listener, site: Arc::new(site) })
    }

    /// Where the page is.
    pub(crate) fn url(&self) -> String {
        format!("http://127.0.0.1:{}/cupel?token={}", self.site.port, self.site.token)
    }

    /// Answers until the process ends.
    pub(crate) fn run(&self) {
        for stream in self.listener.incoming().flatten() {
            let site = Arc::clone(&self.site);
            if site.clients.fetch_add(1, Ordering::Relaxed) >= MOST_CLIENTS {
                site.clients.fetch_sub(1, Ordering::Relaxed);
                continue;
            }
            // A client that leaves or never speaks ends its own thread, not the server.
            thread::spawn(move || {
                let _ = site.serve(stream);
                site.clients.fetch_sub(1, Ordering::Relaxed);
            });
        }
    }
}

impl Site {
    fn new(port: u16, page: String, token: String, opens_once: bool) -> Self {
        let (is_opened, clients) = (AtomicBool::new(false), AtomicUsize::new(0));
        Self { port, page, token, opens_once, is_opened, assets: assets(), clients }
    }

    /// The page, for who has its token.
    fn page(&self, query: &str, cookies: &str) -> Answer<'_> {
        let own = format!("cupel_page_{}={}", self.port, self.token);
        let has_cookie = cookies.split(';').any(|cookie| cookie.trim() == own);
        let given = query.split('&').find_map(|pair| pair.strip_prefix("token="));
        let opens = given == Some(self.token.as_str())
            && !(self.is_opened.swap(true, Ordering::Relaxed) && self.opens_once);
        if !has_cookie && !opens {
            let text = "this page needs the token in the address that the command printed\n";
            return Answer::refusal("403 Forbidden", text);
        }
        let cookie = opens.then(|| format!("{own}; Path=/cupel; HttpOnly; SameSite=Strict"));
        Answer { status: "200 OK", mime: "text/html; charset=utf-8", body: &self.page, cookie }
    }

    fn serve(&self, mut stream: TcpStream) -> io::Result<()> {
        stream.set_read_timeout(Some(PATIENCE))?;
        stream.set_write_timeout(Some(PATIENCE))?;
        let head = read_head(&mut stream)?;
        let answer = self.answer(&head);
        let is_head = head.starts_with("HEAD ");
        let cookie = answer.cookie.as_ref().map(|cookie| format!("set-cookie: {cookie}\r\n"));
        write!(
            stream,
            "HTTP/1.1 {}\r\ncontent-type: {}\r\ncontent-length: {}\r\n\
             content-security-policy: {CONTENT_SECURITY_POLICY}\r\nx-content-type-options: nosniff\r\n\
             referrer-policy: no-referrer\r\ncache-control: no-store\r\nconnection: close\r\n\
             cross-origin-resource-policy: same-origin\r\n{}\r\n",
            answer.status,
            answer.mime,
            answer.body.len(),
            cookie.unwrap_or_default(),
        )?;
        if !is_head {
            stream.write_all(answer.body.as_bytes())?;
        }
        stream.flush()
    }

    fn answer(&self, head: &str) -> Answer<'_> {
        let mut lines = head.split("\r\n");
        let mut words = lines.next().unwrap_or_default().split(' ');
        let (method, target) = (words.next().unwrap_or_default(), words.next().unwrap_or_default());
        let headers: Vec<(&str, &str)> = lines.filter_map(|line| line.split_once(':')).collect();
        let header = |name: &str| {
            let found = headers.iter().find(|(own, _)| own.eq_ignore_ascii_case(name));
            found.map(|(_, value)| value.trim())
        };
        // Another site's name may lead here: only what was asked of this machine is answered.
        if !header("host").is_some_and(|host| self.is_own(host)) {
            return Answer::refusal("421 Misdirected Request", "not a name of this server\n");
        }
        let is_foreign =
            |origin: &str| !origin.strip_prefix("http://").is_some_and(|host| self.is_own(host));
        if header("origin").is_some_and(is_foreign) {
            return Answer::refusal("403 Forbidden", "not for another site\n");
        }
        if !matches!(method, "GET" | "HEAD") {
            return Answer::refusal("405 Method Not Allowed", "only GET and HEAD\n");
        }
        if header("sec-fetch-site").is_some_and(|site| !matches!(site, "same-origin" | "none")) {
            return Answer::refusal("403 Forbidden", "not for another site\n");
        }
        let (path, query) = target.split_once('?').unwrap_or((target, ""));
        if matches!(path, "/" | "/cupel" | "/cupel/") {
            return self.page(query, header("cookie").unwrap_or_default());
        }
        let name = path.strip_prefix("/cupel/");
        match self.assets.iter().find(|asset| Some(asset.name) == name) {
            Some(asset) => {
                Answer { status: "200 OK", mime: asset.mime, body: asset.body, cookie: None }
            }
            None => Answer::refusal("404 Not Found", "there is no such page\n"),
        }
    }

    fn is_own(&self, host: &str) -> bool {
        let (name, port) = host.rsplit_once(':').unwrap_or((host, "80"));
        matches!(name, "127.0.0.1" | "localhost") && port == self.port.to_string()
    }
}

/// A token that nobody guesses: 128 random bits.
fn random_token() -> io::Result<String> {
    let mut bytes = [0; 16];
    getrandom::fill(&mut bytes).map_err(io::Error::from)?;
    Ok(format!("{:032x}", u128::from_be_bytes(bytes)))
}

/// The head of a request, up to its empty line.
fn read_head(stream: &mut impl Read) -> io::Result<String> {
    let mut head = Vec::new();
    let mut chunk = [0; 1024];
    while !head.windows(4).any(|end| end == b"\r\n\r\n") {
        let count = stream.read(&mut chunk)?;
        if count == 0 || head.len() + count > LONGEST_HEAD {
            return Err(io::Error::from(io::ErrorKind::InvalidData));
        }
        head.extend_from_slice(&chunk[..count]);
    }
    Ok(String::from_utf8_lossy(&head).into_owned())
}

#[cfg(test)]
mod tests {
    use super::*;

    fn site() -> Site {
        Site::new(4000, "<p>".to_owned(), "abc".to_owned(), false)
    }

    fn status(head: &str) -> &'static str {
        site().answer(head).status
    }

    #[test]
    fn only_this_machine_and_its_own_pages_are_answered() {
        for (head, expected) in [
            ("GET /cupel?token=abc HTTP/1.1\r\nHost: 127.0.0.1:4000\r\n\r\n", "200 OK"),
            (
                "GET /cupel HTTP/1.1\r\nHost: 127.0.0.1:4000\r\nCookie: a=b; cupel_page_4000=abc\r\n\r\n",
                "200 OK",
            ),
            ("GET /cupel HTTP/1.1\r\nHost: 127.0.0.1:4000\r\n\r\n", "403 Forbidden"),
            ("GET /cupel?token=ab HTTP/1.1\r\nHost: 127.0.0.1:4000\r\n\r\n", "403 Forbidden"),
            (
                "GET /cupel?token=abc HTTP/1.1\r\nHost: 127.0.0.1:4000\r\nSec-Fetch-Site: cross-site\r\n\r\n",
                "403 Forbidden",
            ),
            ("GET /cupel/app.js HTTP/1.1\r\nhost: localhost:4000\r\n\r\n", "200 OK"),
            ("GET /cupel/../Cargo.toml HTTP/1.1\r\nHost: localhost:4000\r\n\r\n", "404 Not Found"),
            ("GET /cupel HTTP/1.1\r\nHost: evil.example:4000\r\n\r\n", "421 Misdirected Request"),
            ("GET /cupel HTTP/1.1\r\nHost: 127.0.0.1:4001\r\n\r\n", "421 Misdirected Request"),
            ("GET /cupel HTTP/1.1\r\n\r\n", "421 Misdirected Request"),
            ("POST /cupel HTTP/1.1\r\nHost: 127.0.0.1:4000\r\n\r\n", "405 Method Not Allowed"),
        ] {
            assert_eq!(status(head), expected, "{head}");
        }
        let foreign =
            "GET /cupel HTTP/1.1\r\nHost: 127.0.0.1:4000\r\nOrigin: http://evil.example\r\n\r\n";
        assert_eq!(status(foreign), "403 Forbidden");
        let own = "GET /cupel?token=abc HTTP/1.1\r\nHost: 127.0.0.1:4000\r\nOrigin: http://127.0.0.1:4000\r\n\r\n";
        assert_eq!(status(own), "200 OK");
    }

    #[test]
    fn an_address_that_others_may_read_opens_the_page_once() {
        let head = "GET /cupel?token=abc HTTP/1.1\r\nHost: 127.0.0.1:4000\r\n\r\n";
        let once = Site::new(4000, String::new(), "abc".to_owned(), true);
        assert_eq!(once.answer(head).status, "200 OK");
        assert_eq!(once.answer(head).status, "403 Forbidden");
        let always = site();
        let cookie = always.answer(head).cookie.unwrap();
        assert_eq!(cookie, "cupel_page_4000=abc; Path=/cupel; HttpOnly; SameSite=Strict");
        assert_eq!(always.answer(head).status, "200 OK");
    }

    #[test]
    fn a_head_without_an_end_is_given_up() {
        let endless = vec![b'x'; LONGEST_HEAD * 2];
        assert!(read_head(&mut endless.as_slice()).is_err());
        assert!(read_head(&mut b"GET / HTTP/1.1\r\n".as_slice()).is_err());
        assert!(read_head(&mut b"GET / HTTP/1.1\r\n\r\n".as_slice()).is_ok());
    }
}
