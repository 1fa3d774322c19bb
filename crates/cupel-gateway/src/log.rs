//! A JSON line for each request, written by a thread of its own so that no request waits for a disk.

use std::io::{self, Write};
use std::sync::Mutex;
use std::sync::PoisonError;
use std::sync::mpsc::{Receiver, SyncSender, TrySendError, sync_channel};
use std::thread::JoinHandle;

use crate::config::ConfigError;

/// Lines that may wait for a slow disk.
const WAITING: usize = 65_536;

/// Where lines go.
pub(crate) struct Log {
    line: Mutex<Option<SyncSender<String>>>,
    writer: Mutex<Option<JoinHandle<()>>>,
}

impl Log {
    /// A log that goes to `stdout`, `stderr`, a file, or nowhere (`off`).
    pub(crate) fn open(place: &str) -> Result<Self, ConfigError> {
        let writer: Box<dyn Write + Send> = match place {
            "off" => return Ok(Self { line: Mutex::new(None), writer: Mutex::new(None) }),
            "stdout" => Box::new(io::stdout()),
            "stderr" => Box::new(io::stderr()),
            file => {
                let mut options = std::fs::OpenOptions::new();
                let opened = options.append(true).create(true).open(file);
                let wrong = |error| ConfigError::new(format!("log: {file}: cannot open: {error}"));
                Box::new(opened.map_err(wrong)?)
            }
        };
        let (line, lines) = sync_channel(WAITING);
        let writer = std::thread::spawn(move || write(&lines, writer));
        Ok(Self { line: Mutex::new(Some(line)), writer: Mutex::new(Some(writer)) })
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

fn write(lines: &Receiver<String>, writer: Box<dyn Write + Send>) {
    let mut writer = io::BufWriter::new(writer);
    while let Ok(line) = lines.recv() {
        let mut next = Some(line);
        while let Some(line) = next {
            // A full disk must not stop the gateway.
            let _ = writeln!(writer, "{line}");
            next = lines.try_recv().ok();
        }
        let _ = writer.flush();
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn no_line_is_lost_at_the_end() {
        let file = std::env::temp_dir().join(format!("cupel-log-{}", std::process::id()));
        let log = Log::open(file.to_str().unwrap()).unwrap();
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
        let error = Log::open("/nowhere/at/all.log").err().unwrap().to_string();
        assert!(error.starts_with("log: /nowhere/at/all.log: cannot open"), "{error}");
    }
}
