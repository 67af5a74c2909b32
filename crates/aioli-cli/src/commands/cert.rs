//! `aioli cert`.

use crate::cli::{self, Cert, CertCommand};
use crate::describe::{certificate_facts, certificates};
use crate::error::{Error, Exit, Reason};
use crate::shown::shown;
use crate::terminal::{complain, note, put_bytes, say};
use crate::{files, keys, output};
use aioli::any::SigningKey;
use aioli_x509::pki_types::{ServerName, UnixTime};
use aioli_x509::{Authority, Certificate, Purpose, Request, Trust, days};
use std::path::{Path, PathBuf};
use std::time::Duration;

pub(crate) fn run(arguments: &Cert) -> Result<Exit, Error> {
    match &arguments.command {
        CertCommand::Ca(arguments) => ca(arguments),
        CertCommand::Request(arguments) => request(arguments),
        CertCommand::Issue(arguments) => issue(arguments),
        CertCommand::Show(arguments) => show(arguments),
        CertCommand::Verify(arguments) => verify(arguments),
    }
}

fn ca(arguments: &cli::Ca) -> Result<Exit, Error> {
    let cli::Ca { key, subject, days: length, output } = arguments;
    let key = prepare(key, &[], output)?;
    let made = days(*length).and_then(|validity| Authority::root(&key, subject.clone(), validity));
    let authority = made.map_err(about(&output.out))?;
    write(&authority.certificate().to_pem(), output)
}

fn request(arguments: &cli::Request) -> Result<Exit, Error> {
    let cli::Request { key, subject, hosts, output } = arguments;
    let key = prepare(key, &[], output)?;
    let request = Request::new(&key, subject.clone(), hosts).map_err(about(&output.out))?;
    write(&request.to_pem(), output)
}

fn issue(arguments: &cli::Issue) -> Result<Exit, Error> {
    let cli::Issue { ca, key, request: path, hosts, authority: below, days: length, output } = arguments;
    let key = prepare(key, &[ca, path], output)?;
    let certificate = read_all(ca)?.swap_remove(0);
    let authority = Authority::new(&key, certificate).map_err(about(ca))?;
    let request = Request::read(&files::read(path)?).map_err(about(path))?;
    let validity = days(*length).map_err(about(&output.out))?;
    let issued = match below {
        Some(below) => authority.delegate(&request, *below, validity),
        None if hosts.is_empty() => request.hosts().and_then(|hosts| authority.issue(&request, hosts, validity)),
        None => authority.issue(&request, hosts.clone(), validity),
    };
    let certificate = issued.map_err(about(path))?;
    note(format_args!("certified: {}", shown(path)));
    for (name, value) in certificate_facts(&certificate) {
        note(format_args!("  {name:<12} {value}"));
    }
    write(&certificate.to_pem(), output)
}

fn show(arguments: &cli::Show) -> Result<Exit, Error> {
    each(&arguments.files, |path| {
        let file = files::read(path)?;
        let descriptions = certificates(&file)
            .unwrap_or(Err(Reason::NoCertificate))
            .map_err(|reason| Error::Malformed { path: path.into(), reason })?;
        descriptions.iter().try_for_each(|description| say!("{}: {description}", shown(path)))
    })
}

fn verify(arguments: &cli::CertVerify) -> Result<Exit, Error> {
    let cli::CertVerify { ca, files: paths, name, purpose, time, quiet } = arguments;
    files::check_standard_input(paths.iter().chain([ca]).map(PathBuf::as_path))?;
    let authorities = read_all(ca)?;
    let purpose = match purpose {
        cli::Purpose::Server => Purpose::Server,
        cli::Purpose::Client => Purpose::Client,
        cli::Purpose::Signer => Purpose::Signer,
        cli::Purpose::Any => Purpose::Any,
    };
    let time = time.map(|time| UnixTime::since_unix_epoch(Duration::from_secs(time.to_unix_duration().as_secs())));
    each(paths, |path| {
        let chain = read_all(path)?;
        let (certificate, intermediates) = chain.split_first().expect("a file without certificates was refused");
        let trust = Trust { time: time.unwrap_or_else(UnixTime::now), ..Trust::now(&authorities, intermediates) };
        trust.verify(certificate, purpose).map_err(about(path))?;
        if let Some(host) = name {
            let host = ServerName::try_from(host.to_string());
            let host = host.map_err(|_| Error::Usage("--name takes a single host, without *".into()))?;
            certificate.verify_host(&host).map_err(about(path))?;
        }
        if !quiet {
            say!("{}: valid", shown(path))?;
        }
        Ok(())
    })
}

/// Does something with each file, tells the errors, and returns the highest of their codes.
fn each(paths: &[PathBuf], work: impl Fn(&Path) -> Result<(), Error>) -> Result<Exit, Error> {
    files::check_standard_input(paths.iter().map(PathBuf::as_path))?;
    let mut worst = Exit::Done;
    for path in paths {
        if let Err(error) = work(path) {
            complain(&error);
            worst = worst.max(error.exit());
        }
    }
    Ok(worst)
}

/// Checks inputs and output, then reads the private key.
fn prepare(key: &cli::Key, others: &[&PathBuf], output: &cli::Output) -> Result<SigningKey, Error> {
    let inputs = || {
        let others = others.iter().map(|path| path.as_path());
        others.chain([key.key.as_path()]).chain(key.passphrase.file())
    };
    files::check_standard_input(inputs())?;
    if !files::is_dash(&output.out) {
        output::check(&output.out, output.force, &output::Inputs::new(inputs()))?;
    }
    keys::read_private(&key.key, &key.passphrase)
}

fn write(pem: &str, output: &cli::Output) -> Result<Exit, Error> {
    match files::is_dash(&output.out) {
        true => put_bytes(pem.as_bytes())?,
        false => output::write(&output.out, pem.as_bytes(), output::Access::Everyone, output.force)?,
    }
    Ok(Exit::Done)
}

/// The certificates in a file, at least one.
pub(crate) fn read_all(path: &Path) -> Result<Vec<Certificate>, Error> {
    Certificate::read_all(&files::read(path)?).map_err(about(path))
}

/// Names the file of an error.
pub(crate) fn about(path: &Path) -> impl FnOnce(aioli_x509::Error) -> Error {
    move |error| Error::Malformed { path: path.into(), reason: Reason::Certificate(error) }
}
