//! `aioli convert`.

use crate::cli::{Convert, KeyForm};
use crate::error::{Error, Exit};
use crate::files;
use crate::keys;
use crate::output::{self, Access, Inputs};
use crate::terminal::put_bytes;
use aioli::any::{SigningKey, VerifyingKey};
use aioli::pkcs8::{EncodePrivateKey, EncodePublicKey, Form, Identifiers, LineEnding};
use zeroize::Zeroizing;

pub(crate) fn run(arguments: &Convert) -> Result<Exit, Error> {
    let Convert { key: path, out, passphrase: source, .. } = arguments;
    let inputs = || [path.as_path()].into_iter().chain(source.file());
    files::check_standard_input(inputs())?;
    let to_stdout = files::is_dash(out);
    if !to_stdout {
        output::check(out, arguments.force, &Inputs::new(inputs()))?;
    }
    let file = files::read(path)?;
    let (converted, access) = match Identifiers::OQS.decode_public_key(&file) {
        Ok(key) => (public(&key, arguments), Access::Everyone),
        // The error of the private key is told: its reader knows more forms.
        Err(_) => {
            let (key, passphrase) = keys::decode_private(path, &file, source)?;
            let passphrase = passphrase.filter(|_| !arguments.no_passphrase);
            (private(&key, passphrase.as_deref().map(Vec::as_slice), arguments)?, Access::Owner)
        }
    };
    match to_stdout {
        true => put_bytes(&converted)?,
        false => output::write(out, &converted, access, arguments.force)?,
    }
    Ok(Exit::Done)
}

/// The form inside PKCS#8 and SubjectPublicKeyInfo; `None` for the bare bytes.
fn form(to: KeyForm) -> Option<Form> {
    match to {
        KeyForm::Oqs => Some(Form::OpenQuantumSafe),
        KeyForm::BouncyCastle => Some(Form::BouncyCastle),
        KeyForm::PqMayo => Some(Form::PqMayo),
        KeyForm::Seed => None,
    }
}

fn public(key: &VerifyingKey, arguments: &Convert) -> Zeroizing<Vec<u8>> {
    const SHORT: &str = "a public key is far below the length that DER can hold";
    let Some(form) = form(arguments.to) else { return Zeroizing::new(key.as_bytes().to_vec()) };
    let key = Identifiers::OQS.encode(key).form(form);
    Zeroizing::new(match arguments.der {
        true => key.to_public_key_der().expect(SHORT).into_vec(),
        false => key.to_public_key_pem(LineEnding::LF).expect(SHORT).into_bytes(),
    })
}

fn private(key: &SigningKey, passphrase: Option<&[u8]>, arguments: &Convert) -> Result<Zeroizing<Vec<u8>>, Error> {
    const SHORT: &str = "a private key is far below the length that DER can hold";
    let Some(form) = form(arguments.to) else {
        return match passphrase {
            None => Ok(Zeroizing::new(key.as_bytes().to_vec())),
            Some(_) => {
                let why = "bare bytes cannot be encrypted, but the key is: --no-passphrase writes them all the same";
                Err(Error::Usage(why.into()))
            }
        };
    };
    let key = Identifiers::OQS.encode(key).form(form);
    let pem = |pem: Zeroizing<String>| Zeroizing::new(pem.as_bytes().to_vec());
    Ok(match (arguments.der, passphrase) {
        (true, None) => key.to_pkcs8_der().expect(SHORT).to_bytes(),
        (true, Some(passphrase)) => key.to_pkcs8_encrypted_der(passphrase).expect(SHORT).to_bytes(),
        (false, None) => pem(key.to_pkcs8_pem(LineEnding::LF).expect(SHORT)),
        (false, Some(passphrase)) => pem(key.to_pkcs8_encrypted_pem(passphrase, LineEnding::LF).expect(SHORT)),
    })
}
