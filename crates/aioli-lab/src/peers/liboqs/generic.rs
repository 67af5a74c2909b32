//! liboqs's MAYO in plain C, which liboqs runs only where it has nothing better: called past its
//! dispatch, as an anchor for our scalar and portable code.

use super::{random, version};
use crate::measure::Operation;
use crate::peers::{Implementation, Keypair, MESSAGE_BYTES, SIGNATURES};
use crate::random::Random;
use crate::record::Label;
use aioli::Algorithm;
use anyhow::{Context, Result, ensure};
use std::ffi::c_int;
use std::hint::black_box;

/// The functions of a set.
#[derive(Clone, Copy)]
struct Generic {
    algorithm: Algorithm,
    keypair: unsafe extern "C" fn(*mut u8, *mut u8) -> c_int,
    sign: unsafe extern "C" fn(*mut u8, *mut usize, *const u8, usize, *const u8) -> c_int,
    verify: unsafe extern "C" fn(*const u8, usize, *const u8, usize, *const u8) -> c_int,
}

macro_rules! generic {
    ($($set:ident: $keypair:ident $sign:ident $verify:ident;)*) => {
        unsafe extern "C" {
            $(
                fn $keypair(public: *mut u8, secret: *mut u8) -> c_int;
                fn $sign(
                    signature: *mut u8,
                    length: *mut usize,
                    message: *const u8,
                    message_length: usize,
                    secret: *const u8,
                ) -> c_int;
                fn $verify(
                    signature: *const u8,
                    length: usize,
                    message: *const u8,
                    message_length: usize,
                    public: *const u8,
                ) -> c_int;
            )*
        }

        fn functions(algorithm: Algorithm) -> Option<Generic> {
            match algorithm {
                $(Algorithm::$set => Some(Generic { algorithm, keypair: $keypair, sign: $sign, verify: $verify }),)*
                _ => None,
            }
        }
    };
}
generic! {
    Mayo1Round2: pqmayo_MAYO_1_opt_crypto_sign_keypair pqmayo_MAYO_1_opt_crypto_sign_signature
        pqmayo_MAYO_1_opt_crypto_sign_verify;
    Mayo2Round2: pqmayo_MAYO_2_opt_crypto_sign_keypair pqmayo_MAYO_2_opt_crypto_sign_signature
        pqmayo_MAYO_2_opt_crypto_sign_verify;
    Mayo3Round2: pqmayo_MAYO_3_opt_crypto_sign_keypair pqmayo_MAYO_3_opt_crypto_sign_signature
        pqmayo_MAYO_3_opt_crypto_sign_verify;
    Mayo5Round2: pqmayo_MAYO_5_opt_crypto_sign_keypair pqmayo_MAYO_5_opt_crypto_sign_signature
        pqmayo_MAYO_5_opt_crypto_sign_verify;
}

/// The generic code of a set, if liboqs has it.
pub(in crate::peers) fn generic(algorithm: Algorithm) -> Option<Box<dyn Implementation>> {
    let functions = functions(algorithm)?;
    oqs::init();
    // SAFETY: `random` has the required signature and can be called at any time from any thread.
    unsafe { oqs_sys::rand::OQS_randombytes_custom_algorithm(Some(random)) };
    Some(Box::new(functions))
}

impl Implementation for Generic {
    fn label(&self) -> Label {
        Label {
            implementation: "liboqs".into(),
            version: version(),
            backend: "generic".into(),
            set: self.algorithm.set_name().into(),
            round: Some(2),
        }
    }

    fn keypair(&self) -> Result<Keypair> {
        let mut secret = vec![0; self.algorithm.secret_key_bytes()];
        let mut public = vec![0; self.algorithm.public_key_bytes()];
        // SAFETY: both are as long as the keys of this set, which the function writes.
        let status = unsafe { (self.keypair)(public.as_mut_ptr(), secret.as_mut_ptr()) };
        ensure!(status == 0, "liboqs's generic key generation returned {status}");
        Ok(Keypair { secret, public })
    }

    fn sign(&self, key: &Keypair, message: &[u8]) -> Result<Vec<u8>> {
        ensure!(key.secret.len() == self.algorithm.secret_key_bytes(), "a secret key of liboqs's length");
        let mut signature = vec![0; self.algorithm.signature_bytes()];
        let mut length = signature.len();
        // SAFETY: the function reads a key of this set's length and the message, and writes a
        // signature of this set's length.
        let status = unsafe {
            (self.sign)(signature.as_mut_ptr(), &mut length, message.as_ptr(), message.len(), key.secret.as_ptr())
        };
        ensure!(status == 0 && length == signature.len(), "liboqs's generic signing returned {status}");
        Ok(signature)
    }

    fn verify(&self, public_key: &[u8], message: &[u8], signature: &[u8]) -> bool {
        // SAFETY: the function reads a key of this set's length, and the message and the signature
        // by their lengths.
        public_key.len() == self.algorithm.public_key_bytes()
            && unsafe {
                let (of_signature, of_message) = (signature.len(), message.len());
                (self.verify)(signature.as_ptr(), of_signature, message.as_ptr(), of_message, public_key.as_ptr())
            } == 0
    }

    fn operations(&self) -> Result<Vec<Operation>> {
        let generic = *self;
        let key = self.keypair()?;
        let public_key = key.public.clone();
        let signed = (0..SIGNATURES)
            .map(|_| {
                let message = Random::bytes::<MESSAGE_BYTES>();
                Ok((message, self.sign(&key, &message)?))
            })
            .collect::<Result<Vec<_>>>()?;
        let mut next = signed.into_iter().cycle();
        Ok(vec![
            Operation::new("keygen", move || {
                black_box(generic.keypair()?);
                Ok(())
            }),
            Operation::new("sign", move || {
                black_box(generic.sign(&key, &Random::bytes::<MESSAGE_BYTES>())?);
                Ok(())
            }),
            Operation::new("verify", move || {
                let (message, signature) = next.next().context("there are signatures")?;
                ensure!(generic.verify(&public_key, &message, &signature), "a valid signature is refused");
                Ok(())
            }),
        ])
    }
}
