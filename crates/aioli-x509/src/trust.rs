//! Whether a chain of certificates leads to a trusted authority.

use crate::{Certificate, Error, algorithms};
use core::time::Duration;
use rustls_pki_types::{TrustAnchor, UnixTime};
use webpki::{
    EndEntityCert, ExtendedKeyUsageValidator, KeyPurposeIdIter, KeyUsage, RequiredEkuNotFoundContext, VerifiedPath,
};
use x509_cert::time::Time;

/// The authorities that are trusted, and the time to verify for.
#[derive(Clone, Copy, Debug)]
pub struct Trust<'a> {
    /// Authorities that are trusted, whoever signed their certificates.
    pub authorities: &'a [Certificate],
    /// Other certificates that may lead to them, in any order.
    pub intermediates: &'a [Certificate],
    /// The time at which all certificates must be valid.
    pub time: UnixTime,
}

/// The use of a certificate.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Purpose {
    /// A server proves its name with it.
    Server,
    /// A client proves its name with it.
    Client,
    /// Somebody signs contents with it: mails, programs or documents.
    Signer,
    /// Anything: the extended key usage is not looked at.
    Any,
}

impl<'a> Trust<'a> {
    /// Trust in these authorities, at the present time.
    pub fn now(authorities: &'a [Certificate], intermediates: &'a [Certificate]) -> Self {
        Self { authorities, intermediates, time: UnixTime::now() }
    }

    /// Verifies that a chain leads from an authority to a certificate, and may be used so. A
    /// [host](Certificate::verify_host) is to be verified apart.
    ///
    /// # Errors
    ///
    /// [`Error::Refused`].
    pub fn verify(&self, certificate: &Certificate, purpose: Purpose) -> Result<(), Error> {
        let anchors: Vec<TrustAnchor<'_>> = (self.authorities.iter())
            .map(|authority| webpki::anchor_from_trusted_cert(authority.as_der()))
            .collect::<Result<_, _>>()?;
        let intermediates: Vec<_> = self.intermediates.iter().map(|certificate| certificate.as_der().clone()).collect();
        let end = EndEntityCert::try_from(certificate.as_der())?;
        let may_sign = |path: &VerifiedPath<'_>| {
            let anchor = anchors.iter().zip(self.authorities).find(|(anchor, _)| std::ptr::eq(*anchor, path.anchor()));
            let (_, authority) = anchor.ok_or(webpki::Error::UnknownIssuer)?;
            self.check_dates(authority)?;
            let between = path.intermediate_certificates().map(|between| Certificate::from_der(&between.der()));
            let all = between.chain([Ok(authority.clone())]);
            let mut refused = all.filter(|authority| !authority.as_ref().is_ok_and(Certificate::is_authority));
            refused.next().map_or(Ok(()), |_| Err(webpki::Error::EndEntityUsedAsCa))
        };
        let verified =
            end.verify_for_usage(&algorithms::ALL, &anchors, &intermediates, self.time, purpose, None, Some(&may_sign));
        Ok(verified.map(drop)?)
    }

    /// Fails if a certificate is not valid at the time.
    fn check_dates(&self, certificate: &Certificate) -> Result<(), webpki::Error> {
        let validity = certificate.fields().validity();
        let seconds = |time: Time| UnixTime::since_unix_epoch(Duration::from_secs(time.to_unix_duration().as_secs()));
        let (not_before, not_after) = (seconds(validity.not_before), seconds(validity.not_after));
        match self.time {
            time if time < not_before => Err(webpki::Error::CertNotValidYet { time, not_before }),
            time if time > not_after => Err(webpki::Error::CertExpired { time, not_after }),
            _ => Ok(()),
        }
    }
}

impl ExtendedKeyUsageValidator for Purpose {
    fn validate(&self, purposes: KeyPurposeIdIter<'_, '_>) -> Result<(), webpki::Error> {
        match self {
            Self::Server => KeyUsage::server_auth().validate(purposes),
            Self::Client => KeyUsage::client_auth().validate(purposes),
            Self::Signer => sign_contents(purposes),
            Self::Any => Ok(()),
        }
    }
}

/// Accepts a certificate for one of [`CONTENTS`], and one that does not limit its purpose.
fn sign_contents(purposes: KeyPurposeIdIter<'_, '_>) -> Result<(), webpki::Error> {
    let mut present = Vec::new();
    for purpose in purposes {
        let purpose = purpose?.to_decoded_oid();
        if CONTENTS.contains(&purpose.as_slice()) {
            return Ok(());
        }
        present.push(purpose);
    }
    if present.is_empty() {
        return Ok(());
    }
    let required = KeyUsage::required_if_present(EMAIL_PROTECTION);
    Err(webpki::Error::RequiredEkuNotFoundContext(RequiredEkuNotFoundContext { required, present }))
}

/// The purposes of who signs contents: mail, programs, documents (RFC 9336), and all purposes.
const CONTENTS: [&[usize]; 4] =
    [&[1, 3, 6, 1, 5, 5, 7, 3, 4], &[1, 3, 6, 1, 5, 5, 7, 3, 3], &[1, 3, 6, 1, 5, 5, 7, 3, 36], &[2, 5, 29, 37, 0]];
/// The first of them in DER.
const EMAIL_PROTECTION: &[u8] = &[0x2b, 6, 1, 5, 5, 7, 3, 4];
