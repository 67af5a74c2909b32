//! `aioli kat`.

use crate::cli::Kat;
use crate::error::{Error, Exit};
use crate::output::{self, Access};
use crate::terminal::{self, Unit, complain, say};
use aioli::Algorithm;
use aioli::backend::DetectedBackend;
use aioli_kat::RECORDS;
use indicatif::ProgressBar;
use rayon::prelude::*;

pub(crate) fn run(arguments: &Kat) -> Result<Exit, Error> {
    let Kat { sets, write, backend } = arguments;
    let backend = backend.detect()?;
    let sets = if sets.is_empty() { &Algorithm::ALL[..] } else { sets };
    if let Some(directory) = write {
        let failed = |source| Error::File { doing: "make", path: directory.clone(), source };
        std::fs::create_dir_all(directory).map_err(failed)?;
    }
    let progress = terminal::progress((sets.len() * RECORDS) as u64, Unit::Records);
    let files: Vec<_> = sets.par_iter().map(|&set| regenerate(set, backend, &progress)).collect();
    progress.finish_and_clear();

    let mut exit = Exit::Done;
    for (&set, file) in sets.iter().zip(files) {
        match file {
            Ok(file) => {
                let ok = file.digest == aioli_kat::official(set).file;
                say!("{}  {set:<12}  {}", file.digest, if ok { "ok" } else { "DIFFERS" })?;
                if !ok {
                    exit = Exit::Invalid;
                }
                if let Some(directory) = write {
                    let path = directory.join(aioli_kat::file_name(set));
                    output::write(&path, file.text.as_bytes(), Access::Everyone, true)?;
                }
            }
            // A signature of this library that does not verify is a wrong answer, too.
            Err(error) => {
                say!("{:64}  {set:<12}  DIFFERS", "-")?;
                complain(&error.into());
                exit = Exit::Invalid;
            }
        }
    }
    Ok(exit)
}

/// A known-answer file and its digest.
struct File {
    text: String,
    digest: String,
}

/// Regenerates the file of a set.
fn regenerate(set: Algorithm, backend: DetectedBackend, progress: &ProgressBar) -> Result<File, aioli::Error> {
    let mut text = String::new();
    let digests = aioli_kat::regenerate::<aioli::Error>(set, backend, |piece| {
        text.push_str(piece);
        if piece.starts_with("count") {
            progress.inc(1);
        }
        Ok(())
    })?;
    Ok(File { text, digest: digests.file })
}
