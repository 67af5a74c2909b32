//! Public keys in their encodings, and files that look like them.

use crate::file::{File, Flag, Group, Key, Test, Verdict};
use crate::material::{key, public_key};
use crate::private_keys::der;
use Verdict::{Invalid, Valid};
use aioli::pkcs8::{EncodePublicKey, Identifiers, LineEnding};
use aioli::{Algorithm, ParameterSet, round3, with_set};

pub(crate) fn file() -> File {
    let mut groups = Algorithm::ALL.map(|algorithm| with_set!(algorithm, P => well_formed::<P>()));
    more_forms(&mut groups[0]);
    File {
        name: "public-keys.json".into(),
        header: "Files of public keys: whether each is read as the public key of the group's seed.",
        groups: groups.into(),
    }
}

fn well_formed<P: ParameterSet>() -> Group {
    let key = key::<P>();
    let mut group = Group::new("MayoPublicKey", P::ALGORITHM).seed(key.as_ref());
    let public_key = public_key(&key);
    let file = public_key.to_public_key_der().expect("a short file");
    group.push(Test::new(Valid, &[Flag::Valid], "SubjectPublicKeyInfo").key(Key::Der(hex::encode(file.as_bytes()))));
    let identifier = der(0x30, &[&der(6, &[Identifiers::OQS.get(P::ALGORITHM).as_bytes()])]);
    let wrapped = der(0x30, &[&identifier, &der(3, &[&[0], &der(4, &[public_key.as_ref()])])]);
    let comment = "an OCTET STRING around the key, the form of Bouncy Castle 1.86";
    group.push(Test::new(Valid, &[Flag::AioliReads], comment).key(Key::Der(hex::encode(wrapped))));
    group
}

/// Other forms of the key of MAYO_1, and damage.
fn more_forms(group: &mut Group) {
    let public_key = public_key(&key::<round3::Mayo1>());
    let raw = public_key.as_ref();
    let oid = |algorithm| Identifiers::OQS.get(algorithm);
    let own = der(6, &[oid(Algorithm::Mayo1).as_bytes()]);
    let identifier = der(0x30, &[&own]);
    let bits = |unused: u8, raw: &[u8]| der(3, &[&[unused], raw]);

    group.push(Test::new(Valid, &[Flag::Valid], "raw bytes").key(Key::Raw(hex::encode(raw))));
    let pem = |ending| public_key.to_public_key_pem(ending).expect("a short file");
    group.push(Test::new(Valid, &[Flag::Valid], "PEM, LF").key(Key::Pem(pem(LineEnding::LF))));
    group.push(Test::new(Valid, &[Flag::Valid], "PEM, CR LF").key(Key::Pem(pem(LineEnding::CRLF))));

    let mut refuse = |flag, comment: &str, file: &[u8]| {
        group.push(Test::new(Invalid, &[flag], comment).key(Key::Der(hex::encode(file))));
    };
    for length in [0, 16, raw.len() - 1] {
        let file = der(0x30, &[&identifier, &bits(0, &raw[..length])]);
        refuse(Flag::KeyLength, &format!("key of {length} bytes"), &file);
    }
    refuse(Flag::KeyLength, "a byte behind the key", &der(0x30, &[&identifier, &bits(0, &[raw, &[0]].concat())]));
    for algorithm in [Algorithm::Mayo2, Algorithm::Mayo1Round2] {
        let identifier = der(0x30, &[&der(6, &[oid(algorithm).as_bytes()])]);
        let flag = if algorithm == Algorithm::Mayo2 { Flag::WrongSet } else { Flag::WrongRound };
        refuse(flag, &format!("identifier of {algorithm}"), &der(0x30, &[&identifier, &bits(0, raw)]));
    }
    let good = der(0x30, &[&identifier, &bits(0, raw)]);
    let mut unknown = good.clone();
    // The last arc of the identifier; no set has 1.3.9999.8.1.4.
    unknown[4 + identifier.len() - 1] = 4;
    refuse(Flag::Malformed, "unknown identifier", &unknown);
    let with_null = der(0x30, &[&own, &[5, 0]]);
    refuse(Flag::Malformed, "parameters NULL", &der(0x30, &[&with_null, &bits(0, raw)]));
    let mut cleared = raw.to_vec();
    *cleared.last_mut().expect("a public key") &= 0xf0;
    refuse(Flag::Malformed, "four unused bits", &der(0x30, &[&identifier, &bits(4, &cleared)]));
    refuse(Flag::Malformed, "OCTET STRING for BIT STRING", &der(0x30, &[&identifier, &der(4, &[raw])]));
    refuse(Flag::Malformed, "key alone", &bits(0, raw));
    refuse(Flag::Malformed, "a byte behind the file", &[&good[..], &[0]].concat());
    refuse(Flag::Malformed, "last byte missing", &good[..good.len() - 1]);
    refuse(Flag::Malformed, "indefinite length", &[&[0x30, 0x80], &good[4..], &[0, 0]].concat());
    refuse(Flag::Malformed, "length in three bytes", &[&[0x30, 0x83, 0], &good[2..]].concat());
    refuse(Flag::Malformed, "empty file", &[]);
    refuse(Flag::Malformed, "empty sequence", &[0x30, 0]);

    let text = pem(LineEnding::LF);
    let last = text.trim_end().rfind('\n').expect("several lines");
    for (comment, text) in [
        ("label of private keys", text.replace("PUBLIC KEY", "PRIVATE KEY")),
        ("label of certificates", text.replace("PUBLIC KEY", "CERTIFICATE")),
        ("labels that differ", text.replacen("PUBLIC KEY", "MAYO PUBLIC KEY", 1)),
        ("no end", text[..=last].into()),
        ("a character that is not base64", text.replacen('\n', "\n*", 1)),
        (
            "a line missing",
            text.lines().enumerate().filter(|(i, _)| *i != 3).map(|(_, line)| format!("{line}\n")).collect(),
        ),
    ] {
        group.push(Test::new(Invalid, &[Flag::Malformed], comment).key(Key::Pem(text)));
    }
}
