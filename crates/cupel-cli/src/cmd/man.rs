//! `cupel man`: pages for `man`.

use std::path::{Path, PathBuf};

use clap::{Args, CommandFactory};
use clap_mangen::Man;

use super::Context;
use crate::cli::Cli;
use crate::error::{Answer, Failure};
use crate::output::{self, Destination};

/// Prints the manual page, or writes a page for every command into a folder
#[derive(Debug, Args)]
#[command(after_help = "Example:\n  cupel man | man -l -")]
pub(crate) struct Arguments {
    /// The folder for all pages; it must exist
    #[arg(long, value_name = "DIR")]
    output: Option<PathBuf>,
}

pub(crate) fn run(arguments: &Arguments, _: &Context) -> Result<Answer, Failure> {
    let mut command = Cli::command();
    command.build();
    match &arguments.output {
        None => output::print_data(&page(&Man::new(command))?, cupel_names::readable)?,
        Some(folder) => write_all(command, folder)?,
    }
    Ok(Answer::Yes)
}

fn page(man: &Man) -> Result<String, Failure> {
    let mut page = Vec::new();
    let rendered = man.render(&mut page);
    rendered.map_err(|error| Failure::cannot(format!("cannot write the page: {error}")))?;
    Ok(String::from_utf8_lossy(&page).into_owned())
}

/// The pages of the commands below a command, then its own.
fn write_all(command: clap::Command, folder: &Path) -> Result<(), Failure> {
    for below in command.get_subcommands() {
        write_all(below.clone(), folder)?;
    }
    let man = Man::new(command);
    Destination::File(folder.join(man.get_filename())).write(&page(&man)?)
}
