//! The command `aioli`: MAYO keys, signatures, known answers and speed. Under the name `aioli-git`,
//! it is what git runs in place of ssh-keygen and gpgsm.

mod cli;
mod clock;
mod commands;
mod describe;
mod envelope;
mod error;
mod files;
mod fingerprint;
mod gpu;
mod interrupt;
mod keys;
mod measure;
mod output;
mod pair;
mod reason;
mod round;
mod shown;
mod signed;
mod signers;
mod sshsig;
mod terminal;

use clap::{CommandFactory, FromArgMatches, Parser};
use cli::{Cli, Command, Git, GitX509};
use error::{Error, Exit};
use std::path::Path;
use std::process::ExitCode;

fn main() -> ExitCode {
    let name = std::env::args_os().next().unwrap_or_default();
    let result = match Path::new(&name).file_stem() == Some("aioli-git".as_ref()) {
        true if GitX509::is_meant() => commands::git_x509::run(&GitX509::parse()),
        true => commands::git::run(&Git::parse()),
        false => {
            let matches = cli::command().get_matches();
            let arguments = Cli::from_arg_matches(&matches);
            run(arguments.unwrap_or_else(|error| error.format(&mut Cli::command()).exit()).command)
        }
    };
    match result {
        Ok(exit) => exit.into(),
        Err(error) => {
            terminal::complain(&error);
            error.exit().into()
        }
    }
}

fn run(command: Option<Command>) -> Result<Exit, Error> {
    match command {
        None => commands::generate::help(),
        Some(Command::Keygen(arguments)) => commands::keygen::run(&arguments),
        Some(Command::Pubkey(arguments)) => commands::pubkey::run(&arguments),
        Some(Command::Convert(arguments)) => commands::convert::run(&arguments),
        Some(Command::Sign(arguments)) => commands::sign::run(&arguments),
        Some(Command::Verify(arguments)) => commands::verify::run(&arguments),
        Some(Command::Inspect(arguments)) => commands::inspect::run(&arguments),
        Some(Command::Cert(arguments)) => commands::cert::run(&arguments),
        Some(Command::Kat(arguments)) => commands::kat::run(&arguments),
        Some(Command::Speed(arguments)) => commands::speed::run(&arguments),
        Some(Command::Demo(arguments)) => commands::demo::run(&arguments),
        Some(Command::Completions(arguments)) => commands::generate::completions(&arguments),
        Some(Command::Man(arguments)) => commands::generate::man(&arguments),
    }
}
