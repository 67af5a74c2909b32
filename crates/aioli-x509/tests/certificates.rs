//! Certificates of all sets: made, verified, refused when anything about them is wrong, and read by
//! OpenSSL.

use aioli::any::SigningKey;
use aioli::pkcs8::FormatError;
use aioli::{Algorithm, Error as Mayo};
use aioli_x509::pki_types::{ServerName, UnixTime};
use aioli_x509::x509_cert::builder::profile::BuilderProfile;
use aioli_x509::x509_cert::builder::{self, Builder, CertificateBuilder};
use aioli_x509::x509_cert::certificate::TbsCertificate;
use aioli_x509::x509_cert::ext::pkix::{BasicConstraints, KeyUsage, KeyUsages};
use aioli_x509::x509_cert::ext::{Extension, ToExtension};
use aioli_x509::x509_cert::serial_number::SerialNumber;
use aioli_x509::x509_cert::spki::{SubjectPublicKeyInfoOwned, SubjectPublicKeyInfoRef};
use aioli_x509::{Authority, Certificate, Error, Host, Name, Purpose, Request, Trust, days};
use std::io::Write;
use std::process::{Command, Stdio};
use std::time::Duration;
use webpki::Error as Refused;

fn name(text: &str) -> Name {
    text.parse().unwrap()
}

fn hosts() -> Vec<Host> {
    ["example.org", "*.example.org", "127.0.0.1", "::1"].map(|host| host.parse().unwrap()).to_vec()
}

fn key(algorithm: Algorithm) -> SigningKey {
    SigningKey::generate(algorithm).unwrap()
}

fn root(algorithm: Algorithm) -> Authority {
    Authority::root(&key(algorithm), name("CN=Root,O=Example"), days(10).unwrap()).unwrap()
}

fn request(algorithm: Algorithm) -> Request {
    Request::new(&key(algorithm), name("CN=leaf"), &hosts()).unwrap()
}

/// A certificate for a key of this set.
fn leaf(authority: &Authority, algorithm: Algorithm) -> Certificate {
    authority.issue(&request(algorithm), hosts(), days(5).unwrap()).unwrap()
}

/// The outcome of verifying a certificate now.
fn verdict(authority: &Certificate, between: &[Certificate], leaf: &Certificate) -> Result<(), Error> {
    Trust::now(std::slice::from_ref(authority), between).verify(leaf, Purpose::Server)
}

fn at(authority: &Authority, leaf: &Certificate, days_from_now: i64) -> Result<(), Error> {
    let seconds = UnixTime::now().as_secs().checked_add_signed(days_from_now * 24 * 60 * 60).unwrap();
    let time = UnixTime::since_unix_epoch(Duration::from_secs(seconds));
    Trust { authorities: &[authority.certificate().clone()], intermediates: &[], time }.verify(leaf, Purpose::Server)
}

#[test]
fn certificates_of_all_sets_are_accepted_under_keys_of_all_sets() {
    for (i, algorithm) in Algorithm::ALL.into_iter().enumerate() {
        let authority = root(algorithm);
        let other = Algorithm::ALL[(i + 3) % Algorithm::ALL.len()];
        let leaf = leaf(&authority, other);
        assert_eq!(verdict(authority.certificate(), &[], &leaf), Ok(()), "{algorithm}, {other}");
        assert_eq!(leaf.verify_signature(&authority.certificate().key().unwrap()), Ok(()));
        assert_eq!(authority.certificate().verify_signature(&authority.certificate().key().unwrap()), Ok(()));
        assert_eq!(leaf.key().unwrap().algorithm(), other);
        assert_eq!(leaf.hosts(), Ok(hosts()));
        assert!(authority.certificate().is_authority() && !leaf.is_authority());
    }
}

/// All bytes, but only one in forty of the key, where all are alike.
fn places(der: &[u8], key: &[u8]) -> impl Iterator<Item = usize> {
    let begin = der.windows(key.len()).position(|window| window == key).unwrap();
    let inside = begin + 1..begin + key.len() - 1;
    (0..der.len()).filter(move |at| !inside.contains(at) || at.is_multiple_of(40))
}

#[test]
fn a_flipped_bit_of_a_certificate_is_noticed_and_never_panics() {
    let authority = root(Algorithm::Mayo2);
    let leaf = leaf(&authority, Algorithm::Mayo2);
    let der = leaf.as_der().to_vec();
    for at in places(&der, leaf.key().unwrap().as_bytes()) {
        let mut flipped = der.clone();
        flipped[at] ^= 1 << (at % 8);
        let verdict = Certificate::from_der(&flipped).and_then(|leaf| {
            let _ = (leaf.hosts(), leaf.is_authority(), leaf.verify_signature(&authority.certificate().key()?));
            verdict(authority.certificate(), &[], &leaf)
        });
        assert!(verdict.is_err(), "byte {at}");
        let _ = Certificate::from_der(&der[..at]).map(|_| panic!("{at} of {} bytes were read", der.len()));
    }
}

#[test]
fn a_flipped_bit_of_a_request_is_noticed_and_never_panics() {
    let request = request(Algorithm::Mayo2);
    let der = request.as_der().to_vec();
    assert_eq!(Request::from_der(&der).unwrap().hosts(), Ok(hosts()));
    for at in places(&der, request.key().as_bytes()) {
        let mut flipped = der.clone();
        flipped[at] ^= 1 << (at % 8);
        assert!(Request::from_der(&flipped).is_err(), "byte {at}");
        assert!(Request::from_der(&der[..at]).is_err(), "{at} bytes");
    }
}

#[test]
fn another_issuer_of_the_same_name_is_refused() {
    let (authority, other) = (root(Algorithm::Mayo1), root(Algorithm::Mayo1));
    let leaf = leaf(&authority, Algorithm::Mayo1);
    assert_eq!(verdict(other.certificate(), &[], &leaf), Err(Error::Refused(Refused::InvalidSignatureForPublicKey)));
    let stranger = Authority::root(&key(Algorithm::Mayo1), name("CN=Stranger"), days(9).unwrap()).unwrap();
    assert_eq!(verdict(stranger.certificate(), &[], &leaf), Err(Error::Refused(Refused::UnknownIssuer)));
    // The issuer's key is of another set.
    let other = root(Algorithm::Mayo5);
    let refused = verdict(other.certificate(), &[], &leaf);
    assert!(matches!(refused, Err(Error::Refused(Refused::UnsupportedSignatureAlgorithmForPublicKeyContext(_)))));
    let refused = leaf.verify_signature(&other.certificate().key().unwrap());
    assert!(matches!(refused, Err(Error::SignatureAlgorithm { .. })), "{refused:?}");
}

#[test]
fn dates_of_leaf_and_root_count() {
    let authority = root(Algorithm::Mayo1);
    let leaf = leaf(&authority, Algorithm::Mayo1);
    assert_eq!(at(&authority, &leaf, 4), Ok(()));
    assert!(matches!(at(&authority, &leaf, 6), Err(Error::Refused(Refused::CertExpired { .. }))));
    assert!(matches!(at(&authority, &leaf, -1), Err(Error::Refused(Refused::CertNotValidYet { .. }))));
    // The root expires before the leaf does.
    let short = Authority::root(&key(Algorithm::Mayo1), name("CN=Root"), days(1).unwrap()).unwrap();
    let leaf = self::leaf(&short, Algorithm::Mayo1);
    assert_eq!(at(&short, &leaf, 0), Ok(()));
    assert!(matches!(at(&short, &leaf, 2), Err(Error::Refused(Refused::CertExpired { .. }))));
    assert_eq!(days(u32::MAX).unwrap_err(), Error::Validity);
}

#[test]
fn a_certificate_is_for_its_own_hosts_and_purposes() {
    let authority = root(Algorithm::Mayo2);
    let leaf = leaf(&authority, Algorithm::Mayo2);
    for good in ["example.org", "www.example.org", "127.0.0.1", "::1"] {
        assert_eq!(leaf.verify_host(&ServerName::try_from(good).unwrap()), Ok(()), "{good}");
    }
    for bad in ["example.com", "a.b.example.org", "127.0.0.2", "::2"] {
        let refused = leaf.verify_host(&ServerName::try_from(bad).unwrap());
        assert!(matches!(refused, Err(Error::Refused(Refused::CertNotValidForName(_)))), "{bad}");
    }
    let trust = Trust::now(std::slice::from_ref(authority.certificate()), &[]);
    assert_eq!(trust.verify(&leaf, Purpose::Client), Ok(()));
    assert_eq!(trust.verify(&leaf, Purpose::Any), Ok(()));
    for bad in ["", "a b", "*", "*.*.org", "-", "1.2.3", "exämple.org"] {
        assert_eq!(bad.parse::<Host>(), Err(Error::Host(bad.into())));
    }
}

#[test]
fn chains_keep_to_what_authorities_may_do() {
    let authority = root(Algorithm::Mayo5);
    let below = |authority: &Authority, subject, path_length| {
        let key = key(Algorithm::Mayo1);
        let request = Request::new(&key, name(subject), &[]).unwrap();
        let certificate = authority.delegate(&request, path_length, days(9).unwrap()).unwrap();
        Authority::new(&key, certificate).unwrap()
    };
    let first = below(&authority, "CN=First", 0);
    let leaf = leaf(&first, Algorithm::Mayo2);
    let between = [first.certificate().clone()];
    assert_eq!(verdict(authority.certificate(), &between, &leaf), Ok(()));
    assert_eq!(verdict(authority.certificate(), &[], &leaf), Err(Error::Refused(Refused::UnknownIssuer)));
    // The path length of the first allows no second.
    let second = below(&first, "CN=Second", 0);
    let too_deep = self::leaf(&second, Algorithm::Mayo2);
    let between = [second.certificate().clone(), first.certificate().clone()];
    let refused = verdict(authority.certificate(), &between, &too_deep);
    assert_eq!(refused, Err(Error::Refused(Refused::PathLenConstraintViolated)));

    // The certificate of a server signs no other, neither between nor as what is trusted.
    let key = key(Algorithm::Mayo1);
    let server = Request::new(&key, name("CN=server"), &hosts()).unwrap();
    let server = authority.issue(&server, hosts(), days(5).unwrap()).unwrap();
    assert_eq!(Authority::new(&key, server.clone()).err(), Some(Error::NotAnAuthority));
    assert_eq!(Authority::new(&self::key(Algorithm::Mayo1), server.clone()).err(), Some(Error::OtherKey));
    assert_eq!(
        verdict(authority.certificate(), &[], first.certificate()),
        Err(Error::Refused(Refused::CaUsedAsEndEntity))
    );
    let by_server = made(&key, "CN=server", &self::key(Algorithm::Mayo1), "CN=leaf", None);
    for authorities in [authority.certificate(), &server] {
        let refused = verdict(authorities, std::slice::from_ref(&server), &by_server);
        assert_eq!(refused, Err(Error::Refused(Refused::EndEntityUsedAsCa)));
    }
}

#[test]
fn an_authority_whose_key_usage_does_not_allow_it_signs_nothing() {
    let keys = [(); 3].map(|()| key(Algorithm::Mayo2));
    for (usage, expected) in [
        (KeyUsages::KeyCertSign, Ok(())),
        (KeyUsages::DigitalSignature, Err(Error::Refused(Refused::EndEntityUsedAsCa))),
    ] {
        let root = made(&keys[0], "CN=Root", &keys[0], "CN=Root", Some(KeyUsages::KeyCertSign));
        let between = made(&keys[0], "CN=Root", &keys[1], "CN=Between", Some(usage));
        let leaf = made(&keys[1], "CN=Between", &keys[2], "CN=leaf", None);
        assert_eq!(verdict(&root, std::slice::from_ref(&between), &leaf), expected, "between");
        assert_eq!(verdict(&between, &[], &leaf), expected, "trusted");
    }
}

/// A certificate by a key and for a key, of an authority if it has a usage.
fn made(by: &SigningKey, issuer: &str, key: &SigningKey, subject: &str, usage: Option<KeyUsages>) -> Certificate {
    struct Bare<'a>(&'a str, &'a str, Option<KeyUsages>);
    impl BuilderProfile for Bare<'_> {
        fn get_issuer(&self, _: &Name) -> Name {
            name(self.0)
        }
        fn get_subject(&self) -> Name {
            name(self.1)
        }
        fn build_extensions(
            &self,
            _: SubjectPublicKeyInfoRef<'_>,
            _: SubjectPublicKeyInfoRef<'_>,
            fields: &TbsCertificate,
        ) -> builder::Result<Vec<Extension>> {
            let constraints = BasicConstraints { ca: self.2.is_some(), path_len_constraint: None };
            let usage = KeyUsage(self.2.unwrap_or(KeyUsages::DigitalSignature).into());
            let subject = fields.subject();
            Ok(vec![(&constraints).to_extension(subject, &[])?, (&usage).to_extension(subject, &[])?])
        }
    }
    let profile = Bare(issuer, subject, usage);
    let info = SubjectPublicKeyInfoOwned::from_key(&key.verifying_key()).unwrap();
    let serial = SerialNumber::new(&[1]).unwrap();
    let builder = CertificateBuilder::new(profile, serial, days(9).unwrap(), info).unwrap();
    builder.build(by).unwrap().try_into().unwrap()
}

#[test]
fn an_unknown_set_is_named() {
    let authority = root(Algorithm::Mayo1);
    let mut der = leaf(&authority, Algorithm::Mayo1).as_der().to_vec();
    let identifier = [6, 6, 0x2b, 0xce, 0x0f, 8, 1, 5];
    let places: Vec<_> = (0..der.len()).filter(|&at| der[at..].starts_with(&identifier)).collect();
    assert_eq!(places.len(), 3, "in the signed part, at the key, beside the signature");
    for at in places {
        der[at + 7] = 9;
    }
    let unknown = Certificate::from_der(&der).unwrap();
    let error = unknown.key().unwrap_err();
    assert!(matches!(error, Error::Mayo(Mayo::KeyFormat(FormatError::UnknownIdentifier(_)))));
    assert!(error.to_string().contains("1.3.9999.8.1.9"), "{error}");
    let refused = verdict(authority.certificate(), &[], &unknown);
    assert!(matches!(refused, Err(Error::Refused(Refused::UnsupportedSignatureAlgorithmContext(_)))), "{refused:?}");
}

#[test]
fn nobody_is_certified_without_a_name() {
    let key = key(Algorithm::Mayo1);
    assert_eq!(Request::new(&key, Name::default(), &[]).unwrap_err(), Error::Nameless);
    assert_eq!(Authority::root(&key, Name::default(), days(1).unwrap()).err(), Some(Error::Nameless));
    let authority = root(Algorithm::Mayo1);
    let hosts_alone = Request::new(&key, Name::default(), &hosts()).unwrap();
    let leaf = authority.issue(&hosts_alone, hosts(), days(1).unwrap()).unwrap();
    assert_eq!(verdict(authority.certificate(), &[], &leaf), Ok(()));
    assert_eq!(authority.issue(&hosts_alone, vec![], days(1).unwrap()).unwrap_err(), Error::Nameless);
    assert_eq!(authority.delegate(&hosts_alone, 0, days(1).unwrap()).unwrap_err(), Error::Nameless);
}

#[test]
fn pem_is_read_among_other_blocks_or_refused() {
    let authority = root(Algorithm::Mayo2);
    let leaf = leaf(&authority, Algorithm::Mayo2);
    let request = request(Algorithm::Mayo2);
    let file = format!("a remark\n{}{}{}", leaf.to_pem(), request.to_pem(), authority.certificate().to_pem());
    assert_eq!(Certificate::read_all(file.as_bytes()).unwrap(), [leaf.clone(), authority.certificate().clone()]);
    assert_eq!(Certificate::read_all(leaf.as_der()).unwrap(), std::slice::from_ref(&leaf));
    assert_eq!(Request::read(file.as_bytes()).unwrap(), request);
    assert_eq!(Request::read(request.as_der()).unwrap(), request);
    let missing = Certificate::read_all(request.to_pem().as_bytes()).unwrap_err();
    assert_eq!(missing, Error::Missing { label: "CERTIFICATE" });
    assert_eq!(Request::read(leaf.to_pem().as_bytes()).unwrap_err(), Error::Missing { label: "CERTIFICATE REQUEST" });
    let cut = &leaf.to_pem().into_bytes()[..2000];
    assert_eq!(Certificate::read_all(cut).unwrap_err(), Error::Pem);
    assert!(matches!(Certificate::read_all(b"").unwrap_err(), Error::Encoding { .. }));
}

/// Runs the machine's OpenSSL and returns its output.
fn openssl(arguments: &[&str], input: &[u8]) -> String {
    let mut command = Command::new("openssl");
    let child = command.args(arguments).stdin(Stdio::piped()).stdout(Stdio::piped()).stderr(Stdio::piped()).spawn();
    let mut child = child.expect("this test needs the command openssl");
    child.stdin.take().unwrap().write_all(input).unwrap();
    let output = child.wait_with_output().unwrap();
    assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));
    String::from_utf8(output.stdout).unwrap()
}

#[test]
fn openssl_reads_our_certificates_and_requests() {
    for (algorithm, identifier) in
        Algorithm::ALL.into_iter().zip(["1.5", "2.5", "3.5", "5.5", "1.3", "2.3", "3.3", "5.3"])
    {
        let authority = root(algorithm);
        let leaf = leaf(&authority, algorithm);
        let text = openssl(&["x509", "-noout", "-text"], leaf.to_pem().as_bytes());
        for expected in [
            "Version: 3 (0x2)",
            &format!("Signature Algorithm: 1.3.9999.8.{identifier}"),
            "Issuer: O = Example, CN = Root",
            "Subject: CN = leaf",
            "DNS:example.org, DNS:*.example.org, IP Address:127.0.0.1, IP Address:0:0:0:0:0:0:0:1",
            "CA:FALSE",
            "Digital Signature",
            "TLS Web Server Authentication, TLS Web Client Authentication",
            "X509v3 Authority Key Identifier",
        ] {
            assert!(text.contains(expected), "{expected} is not in\n{text}");
        }
        let text = openssl(&["x509", "-noout", "-text", "-inform", "DER"], authority.certificate().as_der());
        assert!(text.contains("CA:TRUE") && text.contains("Certificate Sign, CRL Sign"), "{text}");
        let text = openssl(&["req", "-noout", "-text"], request(algorithm).to_pem().as_bytes());
        assert!(text.contains("DNS:example.org"), "{text}");
    }
}

#[test]
fn certificates_of_other_algorithms_are_read_and_refused() {
    let pem = openssl(
        &["req", "-x509", "-newkey", "rsa:2048", "-nodes", "-keyout", "/dev/null", "-subj", "/CN=Root", "-days", "9"],
        b"",
    );
    let other = Certificate::read_all(pem.as_bytes()).unwrap().remove(0);
    let error = other.key().unwrap_err();
    assert!(error.to_string().contains("1.2.840.113549.1.1.1"), "{error}");
    let mayo = root(Algorithm::Mayo1);
    let refused = other.verify_signature(&mayo.certificate().key().unwrap());
    assert!(matches!(refused, Err(Error::SignatureAlgorithm { .. })), "{refused:?}");
    let leaf = leaf(&mayo, Algorithm::Mayo1);
    assert!(verdict(&other, &[], &leaf).is_err());
}
