//! Signatures in the form of CMS: made and verified under all sets, refused when anything about
//! them is wrong, and read by OpenSSL.

use aioli::any::SigningKey;
use aioli::{Algorithm, Error as Mayo};
use aioli_x509::cms::{Hasher, SignedData, Signer};
use aioli_x509::{Authority, Certificate, Error, Request, Trust, days};
use cms::content_info::{CmsVersion, ContentInfo};
use cms::signed_data::{SignedData as Fields, SignerIdentifier, SignerInfo};
use der::asn1::{Any, OctetString, SetOfVec};
use der::oid::db::rfc5911::{
    ID_AA_SIGNING_CERTIFICATE_V_2, ID_CONTENT_TYPE, ID_DATA, ID_ENVELOPED_DATA, ID_MESSAGE_DIGEST,
};
use der::oid::db::rfc5912::{ID_SHA_224, ID_SHA_384};
use der::{Decode, Encode};
use std::io::Write;
use std::process::{Command, Stdio};
use x509_cert::attr::Attribute;
use x509_cert::ext::pkix::SubjectKeyIdentifier;

const CONTENT: &[u8] = b"a content";

/// A signer with a certificate, and the authority that issued it.
struct Parties {
    root: SigningKey,
    authority: Certificate,
    key: SigningKey,
    certificate: Certificate,
}

impl Parties {
    fn new(algorithm: Algorithm) -> Self {
        let root = SigningKey::generate(Algorithm::Mayo2).unwrap();
        let authority = Authority::root(&root, "CN=Root".parse().unwrap(), days(10).unwrap()).unwrap();
        let key = SigningKey::generate(algorithm).unwrap();
        let request = Request::new(&key, "CN=signer".parse().unwrap(), &[]).unwrap();
        let certificate = authority.issue(&request, vec![], days(5).unwrap()).unwrap();
        Self { root, authority: authority.certificate().clone(), key, certificate }
    }

    fn signer(&self) -> Signer {
        Signer::new(&self.key, vec![self.certificate.clone()]).unwrap()
    }

    fn verdict(&self, signature: &SignedData, content: &[u8]) -> Result<(), Error> {
        let authorities = [self.authority.clone()];
        let signer = signature.verify(&Trust::now(&authorities, &[]), signature.hash(content))?;
        assert_eq!(signer, &self.certificate);
        signature.verify_by(&self.key.verifying_key(), signature.hash(content))
    }

    /// A signature after a change of its fields; the key signs the changed attributes.
    fn changed(&self, change: impl FnOnce(&mut Fields, &mut SignerInfo)) -> Result<SignedData, Error> {
        let signature = self.signer().sign_detached(CONTENT).unwrap();
        let mut info = ContentInfo::from_der(signature.as_der()).unwrap();
        let mut fields: Fields = info.content.decode_as().unwrap();
        let mut signer = fields.signer_infos.0.as_slice()[0].clone();
        change(&mut fields, &mut signer);
        if let Some(attributes) = &signer.signed_attrs {
            let signature = self.key.sign(&attributes.to_der().unwrap()).unwrap();
            signer.signature = OctetString::new(signature.as_bytes()).unwrap();
        }
        if fields.signer_infos.0.len() == 1 {
            fields.signer_infos = vec![signer].try_into().unwrap();
        }
        info.content = Any::encode_from(&fields).unwrap();
        SignedData::from_der(&info.to_der().unwrap())
    }

    /// The same after a change of the attributes that are signed.
    fn with_attributes(&self, change: impl FnOnce(&mut Vec<Attribute>)) -> Result<SignedData, Error> {
        self.changed(|_, signer| {
            let mut attributes = signer.signed_attrs.take().unwrap().into_vec();
            change(&mut attributes);
            signer.signed_attrs = Some(attributes.try_into().unwrap());
        })
    }
}

fn attribute(oid: der::oid::ObjectIdentifier, values: Vec<Any>) -> Attribute {
    Attribute { oid, values: SetOfVec::try_from(values).unwrap() }
}

/// Demands that a form is refused in these words.
#[track_caller]
fn refused(signature: Result<SignedData, Error>, text: &str) {
    match signature {
        Err(error @ Error::Unsupported { .. }) => assert!(error.to_string().starts_with(text), "{error}"),
        other => panic!("{text}: {other:?}"),
    }
}

#[test]
fn signatures_of_all_sets_are_accepted() {
    for algorithm in Algorithm::ALL {
        let parties = Parties::new(algorithm);
        let mut hasher = Hasher::new();
        CONTENT.chunks(4).for_each(|piece| hasher.write_all(piece).unwrap());
        for (made, content) in [
            (parties.signer().sign(hasher), None),
            (parties.signer().sign_detached(CONTENT), None),
            (parties.signer().sign_enclosed(CONTENT), Some(CONTENT)),
        ] {
            let made = made.unwrap();
            for read in [made.as_der(), made.to_pem().as_bytes(), made.to_signed_message().as_bytes()] {
                assert!(SignedData::is_meant(read));
                let read = SignedData::read(read).unwrap();
                assert_eq!(read, made);
                assert_eq!(read.content(), content);
                assert_eq!(parties.verdict(&read, CONTENT), Ok(()), "{algorithm}");
                assert_eq!(parties.verdict(&read, b"another"), Err(Error::OtherContent), "{algorithm}");
                assert_eq!(read.algorithm(), Ok(algorithm));
                assert_eq!(read.signer(), Some(&parties.certificate));
                assert!(read.binds_signer() && read.time().is_some());
            }
        }
        assert_eq!(parties.signer().without_time().sign_detached(b"").unwrap().time(), None);
    }
}

#[test]
fn a_flipped_bit_is_noticed_and_never_panics() {
    let parties = Parties::new(Algorithm::Mayo2);
    let signature = parties.signer().sign_detached(CONTENT).unwrap();
    let der = signature.as_der();
    let key = parties.key.verifying_key();
    let inside = der.windows(key.as_bytes().len()).position(|window| window == key.as_bytes()).unwrap();
    // One in forty bytes of the key, where all are alike.
    let inside = inside + 1..inside + key.as_bytes().len() - 1;
    for at in (0..der.len()).filter(|at| !inside.contains(at) || at.is_multiple_of(40)) {
        for bit in [1, 0x40] {
            let mut flipped = der.to_vec();
            flipped[at] ^= bit;
            let verdict = SignedData::from_der(&flipped).and_then(|read| parties.verdict(&read, CONTENT));
            assert!(verdict.is_err(), "byte {at}");
        }
        assert!(SignedData::from_der(&der[..at]).is_err(), "{at} bytes");
    }
}

#[test]
fn other_keys_and_authorities_are_refused() {
    let [parties, other] = [Parties::new(Algorithm::Mayo1), Parties::new(Algorithm::Mayo1)];
    let signature = parties.signer().sign_detached(CONTENT).unwrap();
    let authorities = [other.authority.clone()];
    let verdict = signature.verify(&Trust::now(&authorities, &[]), signature.hash(CONTENT));
    assert!(matches!(verdict, Err(Error::Refused(_))), "{verdict:?}");
    let verdict = signature.verify_by(&other.key.verifying_key(), signature.hash(CONTENT));
    assert_eq!(verdict, Err(Error::OtherKey));
    assert!(matches!(Signer::new(&other.key, vec![parties.certificate.clone()]), Err(Error::OtherKey)));
    assert!(matches!(Signer::new(&other.key, vec![]), Err(Error::Missing { .. })));

    // Without the certificate that it covers, a signature would be bound to no key.
    let stripped = parties.changed(|fields, _| fields.certificates = None).unwrap();
    assert_eq!(parties.verdict(&stripped, CONTENT), Err(Error::NoSigner));
    let verdict = stripped.verify_by(&parties.key.verifying_key(), stripped.hash(CONTENT));
    assert_eq!(verdict, Err(Error::NoSigner));

    // Without certificates, anyone's key can be tried, and none but the signer's is right.
    let bare = parties.changed(|fields, signer| {
        fields.certificates = None;
        let mut attributes = signer.signed_attrs.take().unwrap().into_vec();
        attributes.retain(|attribute| attribute.oid != ID_AA_SIGNING_CERTIFICATE_V_2);
        signer.signed_attrs = Some(attributes.try_into().unwrap());
    });
    let bare = bare.unwrap();
    assert_eq!(parties.verdict(&bare, CONTENT), Err(Error::NoSigner));
    assert_eq!(bare.verify_by(&parties.key.verifying_key(), bare.hash(CONTENT)), Ok(()));
    assert!(!bare.binds_signer());
    let verdict = bare.verify_by(&other.key.verifying_key(), bare.hash(CONTENT));
    assert_eq!(verdict, Err(Error::Mayo(Mayo::InvalidSignature)));
    let key = Parties::new(Algorithm::Mayo5).key.verifying_key();
    assert!(matches!(bare.verify_by(&key, bare.hash(CONTENT)), Err(Error::SignatureAlgorithm { .. })));
}

/// Somebody replaces the certificate by another for the same key and of the same name.
#[test]
fn the_certificate_is_signed_too() {
    let parties = Parties::new(Algorithm::Mayo2);
    let other = parties.with_attributes(|attributes| {
        let named = attributes.iter_mut().find(|attribute| attribute.oid == ID_AA_SIGNING_CERTIFICATE_V_2).unwrap();
        let mut value = named.values.get(0).unwrap().to_der().unwrap();
        *value.last_mut().unwrap() ^= 1;
        named.values = SetOfVec::try_from(vec![Any::from_der(&value).unwrap()]).unwrap();
    });
    assert_eq!(parties.verdict(&other.unwrap(), CONTENT), Err(Error::Mayo(Mayo::InvalidSignature)));
    let unknown = parties.with_attributes(|attributes| {
        let named = attributes.iter_mut().find(|attribute| attribute.oid == ID_AA_SIGNING_CERTIFICATE_V_2).unwrap();
        let mut value = named.values.get(0).unwrap().to_der().unwrap();
        let [sha512, sha224] = [3, 4].map(|last| [0x60, 0x86, 0x48, 1, 0x65, 3, 4, 2, last]);
        let at = value.windows(9).position(|window| window == sha512).unwrap();
        value[at..at + 9].copy_from_slice(&sha224);
        named.values = SetOfVec::try_from(vec![Any::from_der(&value).unwrap()]).unwrap();
    });
    refused(unknown, "digest: 2.16.840.1.101.3.4.2.4");
    let unbound = parties.with_attributes(|attributes| {
        attributes.retain(|attribute| attribute.oid != ID_AA_SIGNING_CERTIFICATE_V_2);
    });
    let unbound = unbound.unwrap();
    assert!(!unbound.binds_signer());
    assert_eq!(parties.verdict(&unbound, CONTENT), Ok(()));
}

#[test]
fn the_certificate_of_a_server_signs_no_contents() {
    let mut parties = Parties::new(Algorithm::Mayo2);
    let request = Request::new(&parties.key, "CN=signer".parse().unwrap(), &["example.org".parse().unwrap()]).unwrap();
    let authority = Authority::new(&parties.root, parties.authority.clone()).unwrap();
    parties.certificate = authority.issue(&request, request.hosts().unwrap(), days(5).unwrap()).unwrap();
    let signature = parties.signer().sign_detached(CONTENT).unwrap();
    let verdict = parties.verdict(&signature, CONTENT);
    assert!(matches!(verdict, Err(Error::Refused(webpki::Error::RequiredEkuNotFoundContext(_)))), "{verdict:?}");
}

/// The authority allows the key to agree on keys, and nothing else.
#[test]
fn a_key_that_must_not_sign_is_refused() {
    let mut parties = Parties::new(Algorithm::Mayo1);
    let [signs, agrees] = [[3, 2, 7, 0x80], [3, 2, 3, 0x08]];
    let mut der = parties.certificate.as_der().to_vec();
    let usage = der.windows(4).position(|window| window == signs).unwrap();
    der[usage..usage + 4].copy_from_slice(&agrees);
    // Its signed part has four bytes of header, as the whole has, and the signature ends it.
    let signed = 4..8 + usize::from(u16::from_be_bytes([der[6], der[7]]));
    let signature = parties.root.sign(&der[signed]).unwrap();
    let at = der.len() - signature.as_bytes().len();
    der[at..].copy_from_slice(signature.as_bytes());
    parties.certificate = Certificate::from_der(&der).unwrap();
    let signature = parties.signer().sign_detached(CONTENT).unwrap();
    assert_eq!(parties.verdict(&signature, CONTENT), Err(Error::NotASigner));
}

#[test]
fn a_signer_is_found_by_its_key_identifier_too() {
    let parties = Parties::new(Algorithm::Mayo2);
    let extension = parties.certificate.fields().get_extension::<SubjectKeyIdentifier>().unwrap().unwrap().1;
    let found = |version| {
        parties.changed(|fields, signer| {
            signer.sid = SignerIdentifier::SubjectKeyIdentifier(extension.clone());
            (fields.version, signer.version) = (version, version);
        })
    };
    assert_eq!(parties.verdict(&found(CmsVersion::V3).unwrap(), CONTENT), Ok(()));
    refused(found(CmsVersion::V1), "version of the form");
}

#[test]
fn what_is_not_understood_is_refused_by_name() {
    let parties = Parties::new(Algorithm::Mayo2);
    refused(parties.changed(|_, signer| signer.signed_attrs = None), "signed attributes: none");
    refused(parties.changed(|fields, _| fields.signer_infos = vec![].try_into().unwrap()), "number of signers: none");
    let two = |fields: &mut Fields, signer: &mut SignerInfo| {
        fields.signer_infos = vec![signer.clone(), signer.clone()].try_into().unwrap();
    };
    refused(parties.changed(two), "number of signers: 2");
    refused(
        parties.changed(|fields, _| fields.encap_content_info.econtent_type = ID_ENVELOPED_DATA),
        "kind of content",
    );
    refused(parties.changed(|_, signer| signer.digest_alg.oid = ID_SHA_224), "digest: 2.16.840");
    for (oid, what) in [(ID_MESSAGE_DIGEST, "attribute message digest"), (ID_CONTENT_TYPE, "attribute content type")] {
        let without = |attributes: &mut Vec<Attribute>| attributes.retain(|attribute| attribute.oid != oid);
        refused(parties.with_attributes(without), &format!("{what}: none"));
        let twice = |attributes: &mut Vec<Attribute>| {
            let same = attributes.iter().find(|attribute| attribute.oid == oid).unwrap().clone();
            attributes.push(same);
        };
        refused(parties.with_attributes(twice), &format!("{what}: several"));
        let empty = |attributes: &mut Vec<Attribute>| {
            without(attributes);
            attributes.push(attribute(oid, vec![]));
        };
        refused(parties.with_attributes(empty), &format!("{what}: several or an empty set"));
    }
    let other = |attributes: &mut Vec<Attribute>| {
        attributes.retain(|attribute| attribute.oid != ID_CONTENT_TYPE);
        attributes.push(attribute(ID_CONTENT_TYPE, vec![Any::encode_from(&ID_ENVELOPED_DATA).unwrap()]));
    };
    refused(parties.with_attributes(other), "signed kind of content");

    // The digest is of one algorithm, and the signature says that it is of another.
    refused(parties.changed(|_, signer| signer.digest_alg.oid = ID_SHA_384), "list of digests");
    let other = |fields: &mut Fields, signer: &mut SignerInfo| {
        signer.digest_alg.oid = ID_SHA_384;
        fields.digest_algorithms = vec![signer.digest_alg.clone()].try_into().unwrap();
    };
    let other = parties.changed(other).unwrap();
    assert_eq!(parties.verdict(&other, CONTENT), Err(Error::OtherContent));
    // A hasher that is not the signature's.
    let signature = parties.changed(|_, _| ()).unwrap();
    let verdict = signature.verify_by(&parties.key.verifying_key(), other.hash(CONTENT));
    assert_eq!(verdict, Err(Error::OtherContent));

    let data = ContentInfo { content_type: ID_DATA, content: Any::null() }.to_der().unwrap();
    refused(SignedData::from_der(&data), "kind of CMS");
    let pem = signature.to_pem();
    assert_eq!(SignedData::read(&pem.as_bytes()[..pem.len() - 30]), Err(Error::Pem));
    let certificate = parties.certificate.to_pem();
    assert_eq!(SignedData::read(certificate.as_bytes()), Err(Error::Missing { label: "CMS" }));
    assert!(!SignedData::is_meant(certificate.as_bytes()) && !SignedData::is_meant(parties.certificate.as_der()));
    let certificates = ContentInfo::try_from(x509_cert::Certificate::from_der(parties.certificate.as_der()).unwrap());
    refused(SignedData::from_der(&certificates.unwrap().to_der().unwrap()), "number of signers: none");
}

/// OpenSSL, of any version, understands the structure; `cargo xtask openssl --full` verifies.
#[test]
fn openssl_reads_the_structure() {
    let signature = Parties::new(Algorithm::Mayo1).signer().sign_enclosed(CONTENT).unwrap();
    let mut openssl = Command::new("openssl");
    openssl.args(["cms", "-cmsout", "-print", "-noout", "-inform", "PEM"]);
    let mut openssl = openssl.stdin(Stdio::piped()).stdout(Stdio::piped()).spawn().expect("openssl is installed");
    openssl.stdin.take().unwrap().write_all(signature.to_pem().as_bytes()).unwrap();
    let output = openssl.wait_with_output().unwrap();
    let text = String::from_utf8(output.stdout).unwrap();
    assert!(output.status.success());
    for expected in [
        "pkcs7-signedData",
        "sha512",
        "messageDigest",
        "signingTime",
        "id-smime-aa-signingCertificateV2",
        "1.3.9999.8.1.5",
    ] {
        assert!(text.contains(expected), "{expected} in {text}");
    }
}
