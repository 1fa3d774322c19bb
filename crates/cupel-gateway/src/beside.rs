//! A gateway beside a program: it runs as long as the program does.

use std::process::{Command, ExitStatus};
use std::time::Duration;

use tokio::sync::watch;

use crate::config::{ConfigError, Source};
use crate::serve::Gateway;

/// Time that answers may take to end once the program is gone: nobody reads them.
const LINGER: Duration = Duration::from_millis(500);

/// Result of a program and the gateway beside it.
#[derive(Debug, Clone)]
#[non_exhaustive]
pub struct Beside {
    /// Exit status of the program.
    pub status: ExitStatus,
    /// Totals of the requests through the gateway.
    pub totals: Totals,
}

/// Sums over the requests to models that a gateway has answered.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
#[non_exhaustive]
pub struct Totals {
    /// Requests that could be read and counted.
    pub requests: u64,
    /// Those of them that were made to fit.
    pub fitted: u64,
    /// Tokens as they came.
    pub tokens_before: u64,
    /// Tokens as they went out.
    pub tokens_after: u64,
    /// Tokens that the provider should have had in its cache.
    pub tokens_cached: u64,
    /// Requests that an upstream found too long, and that were sent again.
    pub sent_again: u64,
    /// Requests that could not be read or fitted, by reason.
    pub unfit: Vec<(String, u64)>,
}

/// Runs a program with a gateway beside it, and ends the gateway with it. `command` hears of the gateway before it
/// serves. Signals that end programs are passed on to this one; the terminal sends it interrupts by itself.
///
/// # Errors
///
/// If the configuration makes no sense, the address cannot be had, or the program cannot be started.
pub fn run_beside(
    source: Source,
    command: impl FnOnce(&Gateway) -> Command,
) -> Result<Beside, ConfigError> {
    let runtime = tokio::runtime::Builder::new_multi_thread().enable_all().build();
    let runtime =
        runtime.map_err(|error| ConfigError::new(format!("no threads to be had: {error}")))?;
    runtime.block_on(async {
        let gateway = Gateway::bind(source).await?;
        let mut command = command(&gateway);
        let app = gateway.app().clone();
        // Before the program starts: an interrupt is the program's from then on.
        let passing_on = Signals::new()?;
        let child = command.spawn().map_err(|error| {
            let program = command.get_program().to_string_lossy();
            ConfigError::new(format!("{program}: cannot be started: {error}"))
        });
        let mut child = child?;
        let passing_on = tokio::spawn(passing_on.pass_on(child.id()));
        let (over, ended) = watch::channel(false);
        let serving = tokio::spawn(async move {
            let mut ended = ended;
            let stop = async {
                let _ = ended.wait_for(|is_over| *is_over).await;
            };
            gateway.run_for(stop, LINGER).await;
        });
        let status = tokio::task::spawn_blocking(move || child.wait()).await;
        passing_on.abort();
        let _ = over.send(true);
        let _ = serving.await;
        let failed = |error: &dyn std::fmt::Display| {
            ConfigError::new(format!("the program cannot be waited for: {error}"))
        };
        let status = status.map_err(|error| failed(&error))?.map_err(|error| failed(&error))?;
        Ok(Beside { status, totals: app.metrics.totals() })
    })
}

#[cfg(unix)]
struct Signals {
    interrupt: tokio::signal::unix::Signal,
    end: tokio::signal::unix::Signal,
    hangup: tokio::signal::unix::Signal,
}

#[cfg(unix)]
impl Signals {
    fn new() -> Result<Self, ConfigError> {
        use tokio::signal::unix::{SignalKind, signal};
        let of =
            |kind| signal(kind).map_err(|error| ConfigError::new(format!("no signals: {error}")));
        Ok(Self {
            interrupt: of(SignalKind::interrupt())?,
            end: of(SignalKind::terminate())?,
            hangup: of(SignalKind::hangup())?,
        })
    }

    async fn pass_on(mut self, program: u32) {
        use rustix::process::{Pid, Signal, kill_process};
        let program = i32::try_from(program).ok().and_then(Pid::from_raw);
        loop {
            let signal = tokio::select! {
                // The terminal sends it to every process in front.
                _ = self.interrupt.recv() => continue,
                _ = self.end.recv() => Signal::TERM,
                _ = self.hangup.recv() => Signal::HUP,
            };
            if let Some(program) = program {
                let _ = kill_process(program, signal);
            }
        }
    }
}

#[cfg(not(unix))]
struct Signals;

#[cfg(not(unix))]
impl Signals {
    fn new() -> Result<Self, ConfigError> {
        Ok(Self)
    }

    async fn pass_on(self, _program: u32) {
        loop {
            let _ = tokio::signal::ctrl_c().await;
        }
    }
}

#[cfg(all(test, unix))]
mod tests {
    use std::os::unix::process::ExitStatusExt;

    use super::*;

    #[tokio::test]
    async fn a_hangup_is_passed_on_to_the_program() {
        let mut child = std::process::Command::new("sleep").arg("60").spawn().unwrap();
        let passing_on = tokio::spawn(Signals::new().unwrap().pass_on(child.id()));
        tokio::task::yield_now().await;
        let own = rustix::process::getpid();
        rustix::process::kill_process(own, rustix::process::Signal::HUP).unwrap();
        let status = tokio::task::spawn_blocking(move || child.wait().unwrap()).await.unwrap();
        passing_on.abort();
        assert_eq!(status.signal(), Some(1));
    }
}
