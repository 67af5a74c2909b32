//! `aioli completions`, `aioli man` and the help, all of which clap writes.

use crate::cli::{self, Completions, Man};
use crate::error::{Error, Exit};
use crate::terminal::{put, put_bytes};

/// Prints the help, for `aioli` without arguments.
pub(crate) fn help() -> Result<Exit, Error> {
    put(format_args!("{}", cli::command().render_long_help()))?;
    Ok(Exit::Done)
}

pub(crate) fn completions(arguments: &Completions) -> Result<Exit, Error> {
    let mut script = Vec::new();
    clap_complete::generate(arguments.shell, &mut cli::command(), "aioli", &mut script);
    put_bytes(&script)?;
    Ok(Exit::Done)
}

pub(crate) fn man(arguments: &Man) -> Result<Exit, Error> {
    // `cli::command` would name the backends of this machine, but the page is for every machine.
    let command = <cli::Cli as clap::CommandFactory>::command();
    match &arguments.dir {
        Some(directory) => {
            let failed = |source| Error::File { doing: "write into", path: directory.clone(), source };
            clap_mangen::generate_to(command, directory).map_err(failed)?;
        }
        None => {
            let mut page = Vec::new();
            clap_mangen::Man::new(command).render(&mut page).map_err(Error::Output)?;
            put_bytes(&page)?;
        }
    }
    Ok(Exit::Done)
}
