//! `aioli completions`, `aioli man` and the help, all of which clap writes.

use crate::cli::{self, Completions, Man};
use crate::error::{Error, Exit};
use crate::interrupt::TemporaryDirectory;
use crate::output::{self, Access};
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
            // Pages are made elsewhere, because a page must not be written through a link.
            let pages = TemporaryDirectory::new().map_err(failed)?;
            clap_mangen::generate_to(command, pages.path()).map_err(failed)?;
            for page in pages.path().read_dir().map_err(failed)? {
                let page = page.map_err(failed)?;
                let contents = std::fs::read(page.path()).map_err(failed)?;
                output::write(&directory.join(page.file_name()), &contents, Access::Everyone, true)?;
            }
        }
        None => {
            let mut page = Vec::new();
            clap_mangen::Man::new(command).render(&mut page).map_err(Error::Output)?;
            put_bytes(&page)?;
        }
    }
    Ok(Exit::Done)
}
