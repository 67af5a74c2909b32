"""Keys, signatures and key files."""

import copy
import hashlib
import pickle
import subprocess
import sys
import threading
from collections.abc import Callable

import aioli
import pytest
from cryptography.exceptions import InvalidSignature as CryptographysInvalidSignature
from cryptography.hazmat.primitives import serialization as s

MESSAGE = b"a message"
# Round 2's MAYO_2 warns when a key is made.
SETS = [name for name in aioli.ALGORITHMS if name != "mayo2-round2"]


@pytest.fixture(scope="module", params=SETS)
def key(request: pytest.FixtureRequest) -> aioli.SigningKey:
    return aioli.SigningKey.generate(request.param)


def test_a_signature_is_valid_for_its_message_alone(key: aioli.SigningKey) -> None:
    public_key = key.public_key()
    for signer in key, key.expand(), key.expand(checked=True):
        signature = signer.sign(MESSAGE)
        for verifier in public_key, public_key.expand():
            verifier.verify(signature, MESSAGE)
            with pytest.raises(aioli.InvalidSignature, match="not valid"):
                verifier.verify(signature, b"another")
            flipped = bytes([signature[0] ^ 1]) + signature[1:]
            with pytest.raises(aioli.InvalidSignature, match="not valid"):
                verifier.verify(flipped, MESSAGE)
            for wrong in signature[1:], signature + b"\0", b"":
                with pytest.raises(aioli.InvalidSignature, match=f"has {len(signature)} bytes, not {len(wrong)}"):
                    verifier.verify(wrong, MESSAGE)


def test_fresh_signatures_differ(key: aioli.SigningKey) -> None:
    assert key.sign(MESSAGE) != key.sign(MESSAGE)


def test_cryptography_knows_the_exception() -> None:
    assert issubclass(aioli.InvalidSignature, CryptographysInvalidSignature)


def test_cryptography_is_not_needed() -> None:
    script = """
import sys
sys.modules["cryptography"] = None
import aioli
key = aioli.SigningKey.generate("mayo2")
try:
    key.public_key().verify(b"", b"a message")
except aioli.InvalidSignature as error:
    assert type(error).__bases__ == (Exception,)
else:
    sys.exit("accepted")
assert aioli.load_private_key(key.private_bytes("PEM", "PKCS8", b"passphrase"), b"passphrase")
"""
    subprocess.run([sys.executable, "-c", script], check=True)


def test_a_digest_stands_for_its_message(key: aioli.SigningKey) -> None:
    hasher = aioli.MessageHasher(key.algorithm)
    hasher.update(b"a ")
    other = hasher.copy()
    hasher.update(memoryview(b"message"))
    other.update(b"mess")
    other.update(b"age")
    digest = hasher.finalize()
    assert digest == other.finalize() == hashlib.shake_256(MESSAGE).digest(len(digest))
    key.public_key().verify(key.sign_digest(digest), MESSAGE)
    key.public_key().verify_digest(key.sign(MESSAGE), digest)
    for sign in key.sign_digest, lambda wrong: key.public_key().verify_digest(b"", wrong):
        with pytest.raises(ValueError, match=f"message digest of {key.algorithm} has {len(digest)} bytes, not 3"):
            sign(b"abc")


def test_any_buffer_is_a_message() -> None:
    key = aioli.SigningKey.generate("mayo2")
    public_key = key.public_key()
    for data in MESSAGE, bytearray(MESSAGE), memoryview(MESSAGE), memoryview(MESSAGE[::-1])[::-1]:
        public_key.verify(memoryview(key.sign(data)), MESSAGE)
    with pytest.raises(TypeError, match="bytes-like"):
        key.sign("a text")  # type: ignore[arg-type]


def test_a_context_is_refused() -> None:
    key = aioli.SigningKey.generate("mayo2")
    signature = key.sign(MESSAGE, context=b"")
    key.public_key().verify(signature, MESSAGE, None)
    with pytest.raises(ValueError, match="no context: expected None or no bytes, given 3"):
        key.sign(MESSAGE, b"abc")
    with pytest.raises(ValueError, match="no context"):
        key.public_key().verify(signature, MESSAGE, context=b"abc")


def test_an_unknown_set_is_answered_by_the_known_ones() -> None:
    with pytest.raises(ValueError, match='"mayo4": unknown set; the sets are mayo1, mayo2, mayo3, mayo5, mayo1-round2'):
        aioli.SigningKey.generate("mayo4")


def test_a_broken_set_warns() -> None:
    with pytest.warns(UserWarning, match="broken"):
        aioli.SigningKey.generate("mayo2-round2")


def test_keys_come_from_bytes(key: aioli.SigningKey) -> None:
    seed = key.private_bytes_raw()
    again = aioli.SigningKey.from_seed(key.algorithm, bytearray(seed))
    assert again.public_key() == key.public_key()
    raw = key.public_key().public_bytes_raw()
    assert aioli.VerifyingKey.from_public_bytes(key.algorithm, raw) == key.public_key()
    with pytest.raises(ValueError, match=f"secret key of {key.algorithm} has {len(seed)} bytes, not 5"):
        aioli.SigningKey.from_seed(key.algorithm, b"short")
    with pytest.raises(ValueError, match=f"public key of {key.algorithm} has {len(raw)} bytes, not 5"):
        aioli.VerifyingKey.from_public_bytes(key.algorithm, b"short")


@pytest.mark.parametrize("form", ["oqs", "bouncycastle", "pq-mayo"])
def test_every_form_is_read_back(key: aioli.SigningKey, form: str) -> None:
    for encoding in s.Encoding.PEM, s.Encoding.DER, "PEM":
        public = key.public_key().public_bytes(encoding, s.PublicFormat.SubjectPublicKeyInfo, form=form)  # type: ignore[arg-type]
        assert aioli.load_public_key(public) == key.public_key()
        private = key.private_bytes(encoding, "PKCS8", s.NoEncryption(), form=form)  # type: ignore[arg-type]
        assert aioli.load_private_key(private).private_bytes_raw() == key.private_bytes_raw()
    raw = key.private_bytes(s.Encoding.Raw, s.PrivateFormat.Raw, None, form=form)  # type: ignore[arg-type]
    assert raw == key.private_bytes_raw()


def test_the_identifier_is_that_of_the_open_quantum_safe_provider() -> None:
    der = aioli.SigningKey.generate("mayo1").public_key().public_bytes("DER", "SubjectPublicKeyInfo")
    # SEQUENCE { SEQUENCE { OBJECT IDENTIFIER 1.3.9999.8.1.5 } BIT STRING }
    assert der[4:4 + 10].hex() == "300806062bce0f080105"


def test_passphrases_are_demanded_as_cryptography_demands_them() -> None:
    key = aioli.SigningKey.generate("mayo1")
    for encryption in s.BestAvailableEncryption(b"passphrase"), b"passphrase":
        for encoding in "PEM", "DER":
            file = key.private_bytes(encoding, "PKCS8", encryption)
            assert aioli.load_private_key(file, b"passphrase").private_bytes_raw() == key.private_bytes_raw()
            with pytest.raises(TypeError, match="encrypted and no passphrase was given"):
                aioli.load_private_key(file)
            with pytest.raises(ValueError, match="wrong passphrase"):
                aioli.load_private_key(file, b"another")
    assert b"BEGIN ENCRYPTED PRIVATE KEY" in key.private_bytes("PEM", "PKCS8", b"passphrase")
    with pytest.raises(TypeError, match="not encrypted"):
        aioli.load_private_key(key.private_bytes("PEM", "PKCS8", None), b"passphrase")


def test_a_wrong_choice_is_answered_by_the_right_ones() -> None:
    key = aioli.SigningKey.generate("mayo1")
    builder = s.PrivateFormat.OpenSSH.encryption_builder().kdf_rounds(10).build(b"passphrase")
    refused: list[tuple[tuple[object, ...], type[Exception], str]] = [
        (("JSON", "PKCS8", None), ValueError, "encoding is JSON; expected one of PEM, DER, Raw"),
        ((s.Encoding.OpenSSH, "PKCS8", None), ValueError, "encoding is Encoding.OpenSSH; expected"),
        ((3, "PKCS8", None), ValueError, "encoding is 3; expected one of PEM, DER, Raw"),
        (("PEM", s.PrivateFormat.TraditionalOpenSSL, None), ValueError, "expected one of PKCS8, Raw"),
        (("PEM", "Raw", None), ValueError, "expected PEM or DER with PKCS8, or Raw with Raw"),
        (("PEM", "PKCS8", ""), TypeError, "encryption_algorithm is str; expected a passphrase in bytes"),
        (("PEM", "PKCS8", builder), TypeError, "expected a passphrase"),
        (("PEM", "PKCS8", b""), ValueError, "passphrase is empty"),
        (("Raw", "Raw", b"passphrase"), ValueError, "cannot be encrypted"),
    ]
    for arguments, exception, message in refused:
        with pytest.raises(exception, match=message):
            key.private_bytes(*arguments)
    with pytest.raises(ValueError, match="form is jks; expected one of oqs, bouncycastle, pq-mayo"):
        key.private_bytes("PEM", "PKCS8", None, form="jks")  # type: ignore[arg-type]
    with pytest.raises(ValueError, match="expected one of SubjectPublicKeyInfo, Raw"):
        key.public_key().public_bytes("PEM", s.PublicFormat.PKCS1)


def test_files_of_something_else_are_refused() -> None:
    key = aioli.SigningKey.generate("mayo1")
    private = key.private_bytes("PEM", "PKCS8", None)
    public = key.public_key().public_bytes("PEM", "SubjectPublicKeyInfo")
    with pytest.raises(ValueError, match="expected the label PUBLIC KEY"):
        aioli.load_public_key(private)
    with pytest.raises(ValueError, match="expected the label PRIVATE KEY"):
        aioli.load_private_key(public)
    for load in aioli.load_public_key, aioli.load_private_key:
        for nonsense in b"", b"nonsense", public[:-40]:
            with pytest.raises(ValueError, match="not a key in PEM or DER"):
                load(nonsense)


def test_secret_keys_are_neither_pickled_nor_shown(key: aioli.SigningKey) -> None:
    for secret in key, key.expand():
        for protocol in range(pickle.HIGHEST_PROTOCOL + 1):
            with pytest.raises(TypeError, match="cannot be pickled"):
                pickle.dumps(secret, protocol)
        assert copy.copy(secret) is copy.deepcopy(secret) is secret
        assert repr(secret) == str(secret) == f"<aioli.SigningKey of {key.algorithm}>"
        assert not hasattr(secret, "__dict__")


def test_public_keys_are_pickled_compared_and_hashed(key: aioli.SigningKey) -> None:
    public_key = key.public_key()
    again = pickle.loads(pickle.dumps(public_key.expand()))
    assert again == public_key and hash(again) == hash(public_key)
    assert copy.deepcopy(public_key) is public_key
    other = aioli.SigningKey.generate(key.algorithm).public_key()
    assert public_key != other and public_key != 3 and len({public_key, again, other}) == 2
    assert repr(public_key) == f"<aioli.VerifyingKey of {key.algorithm}: {public_key.public_bytes_raw()[:8].hex()}...>"


def test_threads_share_keys_and_a_hasher() -> None:
    key = aioli.SigningKey.generate("mayo2").expand()
    public_key = key.public_key().expand()
    hasher = aioli.MessageHasher("mayo2")
    failures: list[BaseException] = []

    def work(name: int) -> None:
        try:
            for i in range(50):
                message = f"{name} {i}".encode()
                public_key.verify(key.sign(message), message)
                hasher.update(b"x" * 1000)
        except BaseException as error:
            failures.append(error)

    threads = [threading.Thread(target=work, args=(name,)) for name in range(8)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert not failures
    assert hasher.finalize() == hashlib.shake_256(b"x" * 1000 * 50 * 8).digest(len(hasher.finalize()))


@pytest.mark.parametrize("operation", ["sign", "verify", "update"])
def test_other_threads_run_during_an_operation(operation: str) -> None:
    key = aioli.SigningKey.generate("mayo1")
    message = bytes(1 << 24)
    signature = key.sign(message)
    public_key = key.public_key()
    hasher = aioli.MessageHasher("mayo1")
    operations: dict[str, Callable[[], object]] = {
        "sign": lambda: key.sign(message),
        "verify": lambda: public_key.verify(signature, message),
        "update": lambda: hasher.update(message),
    }
    call = operations[operation]
    interval = sys.getswitchinterval()
    # From here on no thread is made to give way: another one runs only while this one lets it.
    sys.setswitchinterval(1000)
    try:
        for _ in range(100):
            gate = threading.Lock()
            ran: list[bool] = []
            gate.acquire()
            thread = threading.Thread(target=lambda: ran.append(gate.acquire()))
            thread.start()
            gate.release()
            call()
            others_ran = bool(ran)
            thread.join()
            if others_ran:
                return
        raise AssertionError("no other thread ran during 100 operations")
    finally:
        sys.setswitchinterval(interval)
