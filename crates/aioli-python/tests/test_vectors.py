"""The test vectors of this repository, which vectors/README.md describes."""

import json
import pathlib
from collections.abc import Iterator
from typing import Any

import aioli
import pytest

VECTORS = pathlib.Path(__file__).parents[3] / "vectors"


def groups(file: str) -> list[dict[str, Any]]:
    content = json.loads((VECTORS / file).read_text())
    found: list[dict[str, Any]] = content["testGroups"]
    assert content["numberOfTests"] == sum(len(group["tests"]) for group in found) > 0
    return found


def changed(value: bytes, kind: str, number: int) -> bytes:
    if kind.endswith("Lengths"):
        return value[:number].ljust(number, b"\0")
    return bytes(byte ^ (1 << number % 8 if i == number // 8 else 0) for i, byte in enumerate(value))


def variants(key: bytes, test: dict[str, Any]) -> Iterator[tuple[bytes, bytes]]:
    signature = bytes.fromhex(test["sig"])
    lists = [name for name in ("sigLengths", "sigBits", "keyLengths", "keyBits") if name in test]
    for name in lists:
        for number in test[name]:
            if name.startswith("sig"):
                yield key, changed(signature, name, number)
            else:
                yield changed(key, name, number), signature
    if not lists:
        yield key, signature


def is_valid(algorithm: str, key: bytes, message: bytes, signature: bytes) -> bool:
    try:
        public_key = aioli.VerifyingKey.from_public_bytes(algorithm, key)
    except ValueError:
        return False
    verdicts = []
    for verifier in public_key, public_key.expand():
        try:
            verifier.verify(signature, message)
            verdicts.append(True)
        except aioli.InvalidSignature:
            verdicts.append(False)
    assert verdicts[0] == verdicts[1]
    return verdicts[0]


@pytest.mark.parametrize("algorithm", aioli.ALGORITHMS)
def test_every_signature_has_its_verdict(algorithm: str) -> None:
    cases = 0
    for group in groups(f"verify-{algorithm}.json"):
        assert group["set"] == algorithm
        for test in group["tests"]:
            message = bytes.fromhex(test["msg"])
            for key, signature in variants(bytes.fromhex(group["publicKey"]), test):
                verdict = is_valid(algorithm, key, message, signature)
                assert verdict == (test["result"] == "valid"), f"{algorithm}, test {test['tcId']}: {test['comment']}"
                cases += 1
    assert cases > 200


def test_every_signature_that_is_to_be_made_is_valid() -> None:
    sets = set()
    for group in groups("sign.json"):
        key = aioli.SigningKey.from_seed(group["set"], bytes.fromhex(group["seed"])).public_key()
        sets.add(group["set"])
        for test in group["tests"]:
            key.verify(bytes.fromhex(test["sig"]), bytes.fromhex(test["msg"]))
    assert sets == set(aioli.ALGORITHMS)


def test_every_public_key_is_read_or_refused() -> None:
    for group in groups("public-keys.json"):
        expected = aioli.SigningKey.from_seed(group["set"], bytes.fromhex(group["seed"])).public_key()
        for test in group["tests"]:
            try:
                if "raw" in test:
                    key = aioli.VerifyingKey.from_public_bytes(group["set"], bytes.fromhex(test["raw"]))
                else:
                    key = aioli.load_public_key(file_of(test))
            except ValueError:
                assert test["result"] == "invalid", test["comment"]
            else:
                assert test["result"] == "valid" and key == expected, test["comment"]


def test_every_private_key_is_read_or_refused() -> None:
    for group in groups("private-keys.json"):
        for test in group["tests"]:
            passphrase = test["passphrase"].encode() if "passphrase" in test else None
            try:
                if "raw" in test:
                    key = aioli.SigningKey.from_seed(group["set"], bytes.fromhex(test["raw"]))
                else:
                    key = aioli.load_private_key(file_of(test), passphrase)
            except (TypeError, ValueError):
                assert test["result"] == "invalid", test["comment"]
            else:
                assert test["result"] == "valid", test["comment"]
                assert key.algorithm == group["set"]
                assert key.private_bytes_raw().hex() == group["seed"], test["comment"]


def file_of(test: dict[str, Any]) -> bytes:
    return test["pem"].encode() if "pem" in test else bytes.fromhex(test["der"])
