"""Certificates that a MAYO key signed."""

import datetime

import aioli
import pytest
from cryptography import x509
from cryptography.hazmat.primitives import hashes, serialization
from cryptography.hazmat.primitives.asymmetric import ec


def der(tag: int, *contents: bytes) -> bytes:
    content = b"".join(contents)
    length = len(content).to_bytes((len(content).bit_length() + 7) // 8)
    return bytes([tag]) + (bytes([len(content)]) if len(content) < 128 else bytes([128 + len(length)]) + length) + content


def name(common_name: str) -> bytes:
    return x509.Name([x509.NameAttribute(x509.NameOID.COMMON_NAME, common_name)]).public_bytes()


def certificate(
    subject: str, public_key: aioli.VerifyingKey, issuer: str, key: aioli.SigningKey, *, old: bool = False
) -> bytes:
    """The DER of a certificate; an old one is of version 1, which is not written."""
    spki = public_key.public_bytes("DER", "SubjectPublicKeyInfo")
    own = key.public_key().public_bytes("DER", "SubjectPublicKeyInfo")
    algorithm = own[4 : 6 + own[5]]
    validity = der(0x30, der(0x17, b"260101000000Z"), der(0x17, b"360101000000Z"))
    version = b"" if old else der(0xA0, der(2, b"\2"))
    signed = der(0x30, version, der(2, b"\x11"), algorithm, name(issuer), validity, name(subject), spki)
    return der(0x30, signed, algorithm, der(3, b"\0", key.sign(signed)))


KEY = aioli.SigningKey.generate("mayo1")
ROOT = certificate("root", KEY.public_key(), "root", KEY)
LEAF = certificate("leaf", aioli.SigningKey.generate("mayo5").public_key(), "root", KEY)


@pytest.mark.parametrize("old", [False, True])
def test_a_certificate_is_verified_with_its_issuer(old: bool) -> None:
    leaf = certificate("leaf", KEY.public_key(), "root", KEY, old=old)
    pem = x509.load_der_x509_certificate(leaf).public_bytes(serialization.Encoding.PEM)
    for cert in leaf, bytearray(leaf), pem, x509.load_der_x509_certificate(leaf):
        for issuer in ROOT, x509.load_der_x509_certificate(ROOT):
            aioli.verify_certificate(cert, issuer)


def test_a_changed_certificate_is_not_valid() -> None:
    with pytest.raises(aioli.InvalidSignature):
        aioli.verify_certificate(LEAF.replace(b"leaf", b"Leaf"), ROOT)
    with pytest.raises(aioli.InvalidSignature):
        aioli.verify_certificate(LEAF[:-1] + bytes([LEAF[-1] ^ 1]), ROOT)
    other = aioli.SigningKey.generate("mayo1")
    with pytest.raises(aioli.InvalidSignature):
        aioli.verify_certificate(LEAF, certificate("root", other.public_key(), "root", other))


def test_other_names_and_algorithms_are_refused() -> None:
    with pytest.raises(ValueError, match="another issuer"):
        aioli.verify_certificate(ROOT, LEAF)
    other = aioli.SigningKey.generate("mayo2")
    with pytest.raises(ValueError, match="by the algorithm 1.3.9999.8.1.5, but expected is 1.3.9999.8.2.5"):
        aioli.verify_certificate(LEAF, certificate("root", other.public_key(), "root", other))
    curve = ec.generate_private_key(ec.SECP256R1())
    root = x509.Name([x509.NameAttribute(x509.NameOID.COMMON_NAME, "root")])
    start = datetime.datetime(2026, 1, 1, tzinfo=datetime.UTC)
    builder = x509.CertificateBuilder().subject_name(root).issuer_name(root).public_key(curve.public_key())
    builder = builder.serial_number(1).not_valid_before(start).not_valid_after(start + datetime.timedelta(days=1))
    with pytest.raises(ValueError, match="of no known MAYO set"):
        aioli.verify_certificate(LEAF, builder.sign(curve, hashes.SHA256()))


def test_other_files_are_refused() -> None:
    for cert in b"", b"nonsense", LEAF[:-1], LEAF + b"\0", der(0x30, der(0x30)):
        with pytest.raises(ValueError, match="cert is not one certificate in PEM or DER"):
            aioli.verify_certificate(cert, ROOT)
    pem = b"".join(x509.load_der_x509_certificate(cert).public_bytes(serialization.Encoding.PEM) for cert in (LEAF, ROOT))
    with pytest.raises(ValueError, match="there are 2"):
        aioli.verify_certificate(pem, ROOT)
    with pytest.raises(ValueError, match="without a block of the kind CERTIFICATE"):
        aioli.verify_certificate(LEAF, KEY.public_key().public_bytes("PEM", "SubjectPublicKeyInfo"))
    with pytest.raises(TypeError, match="bytes-like"):
        aioli.verify_certificate("a text", ROOT)
