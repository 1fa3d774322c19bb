//! A JSON line for each request, written by a thread of its own so that no request waits for a disk.

use std::fs::{File, OpenOptions};
use std::io::{self, Write};
use std::sync::mpsc::{Receiver, SyncSender, TrySendError, sync_channel};
use std::sync::{Arc, Mutex, PoisonError};
use std::thread::JoinHandle;

use crate::config::ConfigError;
use crate::metrics::Metrics;

/// Lines that may wait for a slow disk.
const WAITING: usize = 65_536;

/// Bytes that are written at once, if as many wait.
const AT_ONCE: usize = 65_536;

/// Where lines go.
pub(crate) struct Log {
    line: Mutex<Option<SyncSender<String>>>,
    writer: Mutex<Option<JoinHandle<()>>>,
}

impl Log {
    /// A log that goes to `stdout`, `stderr`, a file, or nowhere (`off`). A file that is made is for its
    /// owner alone if texts go into it. Lines that cannot be written are counted.
    pub(crate) fn open(
        place: &str,
        has_texts: bool,
        metrics: &Arc<Metrics>,
    ) -> Result<Self, ConfigError> {
        let to: Box<dyn Write + Send> = match place {
            "off" => return Ok(Self { line: Mutex::new(None), writer: Mutex::new(None) }),
            "stdout" => Box::new(io::stdout()),
            "stderr" => Box::new(io::stderr()),
            file => {
                let wrong = |why: String| ConfigError::new(format!("log: {file}: {why}"));
                let opened = open_file(file, has_texts)?;
                Box::new(opened.map_err(|error| wrong(format!("cannot open: {error}")))?)
            }
        };
        let (line, lines) = sync_channel(WAITING);
        let mut writer =
            Writer { to, place: place.to_owned(), metrics: metrics.clone(), is_failing: false };
        let writer = std::thread::spawn(move || writer.run(&lines));
        Ok(Self { line: Mutex::new(Some(line)), writer: Mutex::new(Some(writer)) })
    }

    /// Returns true if a place is a file, which may have been moved away since it was opened.
    pub(crate) fn is_file(place: &str) -> bool {
        !matches!(place, "off" | "stdout" | "stderr")
    }

    /// Hands a line over. `false` if too many are waiting.
    pub(crate) fn write(&self, line: String) -> bool {
        let sender = self.line.lock().unwrap_or_else(PoisonError::into_inner);
        let Some(sender) = &*sender else { return true };
        !matches!(sender.try_send(line), Err(TrySendError::Full(_)))
    }

    /// Waits until every line is written.
    pub(crate) fn close(&self) {
        self.line.lock().unwrap_or_else(PoisonError::into_inner).take();
        let writer = self.writer.lock().unwrap_or_else(PoisonError::into_inner).take();
        if let Some(writer) = writer {
            let _ = writer.join();
        }
    }
}

/// Opens a file at its end. One that is a pipe is refused: opening it would wait for a reader.
fn open_file(file: &str, is_private: bool) -> Result<io::Result<File>, ConfigError> {
    let mut options = OpenOptions::new();
    options.append(true).create(true);
    #[cfg(unix)]
    {
        use std::os::unix::fs::{FileTypeExt as _, OpenOptionsExt as _};
        let kind = std::fs::metadata(file).map(|found| found.file_type());
        if kind.is_ok_and(|kind| kind.is_fifo() || kind.is_socket()) {
            let text = "is a pipe, and nobody may be at its other end; name a file";
            return Err(ConfigError::new(format!("log: {file}: {text}")));
        }
        if is_private {
            options.mode(0o600);
        }
    }
    #[cfg(not(unix))]
    let _ = is_private;
    Ok(options.open(file))
}

/// Writes lines, and goes on where some cannot be written: a full disk must not stop the gateway.
struct Writer {
    to: Box<dyn Write + Send>,
    place: String,
    metrics: Arc<Metrics>,
    /// True if the last lines could not be written.
    is_failing: bool,
}

impl Writer {
    fn run(&mut self, lines: &Receiver<String>) {
        while let Ok(line) = lines.recv() {
            let (mut text, mut count) = (line + "\n", 1);
            while text.len() < AT_ONCE {
                let Ok(line) = lines.try_recv() else { break };
                text.push_str(&line);
                text.push('\n');
                count += 1;
            }
            self.write(&text, count);
        }
    }

    fn write(&mut self, text: &str, count: u64) {
        let written = self.to.write_all(text.as_bytes()).and_then(|()| self.to.flush());
        let Err(error) = written else {
            self.is_failing = false;
            return;
        };
        (0..count).for_each(|_| self.metrics.line_lost());
        if !std::mem::replace(&mut self.is_failing, true) {
            let place = &self.place;
            let _ = writeln!(io::stderr(), "cupel: log: {place}: lines are lost: {error}");
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn no_line_is_lost_at_the_end() {
        let file = std::env::temp_dir().join(format!("cupel-log-{}", std::process::id()));
        let log = Log::open(file.to_str().unwrap(), false, &Arc::default()).unwrap();
        for number in 0..10_000 {
            assert!(log.write(format!("{{\"n\":{number}}}")));
        }
        log.close();
        let text = std::fs::read_to_string(&file).unwrap();
        std::fs::remove_file(&file).unwrap();
        assert_eq!(text.lines().count(), 10_000);
        assert!(text.ends_with("{\"n\":9999}\n"));
    }

    #[test]
    fn a_place_that_cannot_be_written_is_named() {
        let error =
            Log::open("/nowhere/at/all.log", false, &Arc::default()).err().unwrap().to_string();
        assert!(error.starts_with("log: /nowhere/at/all.log: cannot open"), "{error}");
    }

    #[cfg(target_os = "linux")]
    #[test]
    fn lines_that_a_full_disk_does_not_take_are_counted() {
        let metrics = Arc::default();
        let log = Log::open("/dev/full", false, &metrics).unwrap();
        (0..5).for_each(|_| assert!(log.write("{}".to_owned())));
        log.close();
        assert_eq!(metrics.lines_lost(), 5);
    }

    #[cfg(unix)]
    #[test]
    fn a_file_with_texts_is_for_its_owner_alone_and_a_pipe_is_no_log() {
        use std::os::unix::fs::PermissionsExt as _;
        let file = std::env::temp_dir().join(format!("cupel-private-log-{}", std::process::id()));
        Log::open(file.to_str().unwrap(), true, &Arc::default()).unwrap().close();
        assert_eq!(std::fs::metadata(&file).unwrap().permissions().mode() & 0o777, 0o600);
        std::fs::remove_file(&file).unwrap();
        assert!(std::process::Command::new("mkfifo").arg(&file).status().unwrap().success());
        let error = Log::open(file.to_str().unwrap(), false, &Arc::default()).err().unwrap();
        assert!(error.to_string().contains("is a pipe"), "{error}");
        std::fs::remove_file(&file).unwrap();
    }
}
