//! The commands: one verb a file, with its arguments and its `run`.

use clap::Subcommand;

use crate::error::{Answer, Failure};
use crate::settings::Settings;
use crate::style::Palette;

/// What every command may need.
pub(crate) struct Context {
    /// The colours of the standard output, or none.
    pub(crate) palette: Palette,
    /// What holds where flags say nothing.
    pub(crate) settings: Settings,
}

/// Makes the modules, the list of subcommands and the way to run them out of one list.
macro_rules! commands {
    ($($(#[$note:meta])* $name:ident => $module:ident,)*) => {
        $($(#[$note])* pub(crate) mod $module;)*

        /// What to do.
        #[derive(Debug, Subcommand)]
        pub(crate) enum Command {
            $($(#[$note])* $name($module::Arguments),)*
        }

        impl Command {
            /// Does it.
            pub(crate) fn run(&self, context: &Context) -> Result<Answer, Failure> {
                match self {
                    $($(#[$note])* Self::$name(arguments) => $module::run(arguments, context),)*
                }
            }
        }
    };
}

commands! {
    Select => select,
    Explain => explain,
    View => view,
    Simulate => simulate,
    Compare => compare,
    Eval => eval,
    #[cfg(feature = "replay")]
    Replay => replay,
    #[cfg(feature = "replay")]
    Record => record,
    #[cfg(feature = "replay")]
    Check => check,
    Count => count,
    Tools => tools,
    Validate => validate,
    Import => import,
    Show => show,
    Policy => policy,
    Models => models,
    Config => config,
    Schema => schema,
    Conformance => conformance,
    #[cfg(feature = "gateway")]
    Gateway => gateway,
    #[cfg(feature = "gateway")]
    Wrap => wrap,
    #[cfg(feature = "gateway")]
    Doctor => doctor,
    #[cfg(feature = "mcp")]
    Mcp => mcp,
    #[cfg(feature = "mcp")]
    Hook => hook,
    ServeProtocol => serve_protocol,
    Completions => completions,
    Man => man,
}
