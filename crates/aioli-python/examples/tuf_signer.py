"""MAYO keys for The Update Framework: a signer and a key of securesystemslib.

python-tuf uses that library.
"""

import hashlib
from typing import Any

import aioli
from securesystemslib.exceptions import UnverifiedSignatureError
from securesystemslib.signer import KEY_FOR_TYPE_AND_SCHEME, Key, SecretsHandler, Signature, Signer
from tuf.api.metadata import Metadata, Root


class MayoKey(Key):
    @classmethod
    def from_dict(cls, keyid: str, key_dict: dict[str, Any]) -> "MayoKey":
        return cls(keyid, *cls._from_dict(key_dict))

    def to_dict(self) -> dict[str, Any]:
        return self._to_dict()

    def verify_signature(self, signature: Signature, data: bytes) -> None:
        try:
            public_key = aioli.load_public_key(self.keyval["public"].encode())
            if public_key.algorithm != self.scheme:
                raise ValueError(f"the key is of {public_key.algorithm}, expected {self.scheme}")
            public_key.verify(bytes.fromhex(signature.signature), data)
        except (aioli.InvalidSignature, ValueError) as error:
            raise UnverifiedSignatureError(f"by {self.keyid}: {error}") from error


class MayoSigner(Signer):
    def __init__(self, key: aioli.SigningKey) -> None:
        self.key = key.expand(checked=True)
        pem = key.public_key().public_bytes("PEM", "SubjectPublicKeyInfo")
        keyid = hashlib.sha256(pem).hexdigest()
        self._public_key = MayoKey(keyid, "mayo", key.algorithm, {"public": pem.decode()})

    @property
    def public_key(self) -> Key:
        return self._public_key

    @classmethod
    def from_priv_key_uri(
        cls, priv_key_uri: str, public_key: Key, secrets_handler: SecretsHandler | None = None
    ) -> "MayoSigner":
        with open(priv_key_uri.removeprefix("mayo:"), "rb") as file:
            password = secrets_handler("passphrase").encode() if secrets_handler else None
            return cls(aioli.load_private_key(file.read(), password))

    def sign(self, payload: bytes) -> Signature:
        return Signature(self.public_key.keyid, self.key.sign(payload).hex())


for algorithm in aioli.ALGORITHMS:
    KEY_FOR_TYPE_AND_SCHEME[("mayo", algorithm)] = MayoKey

if __name__ == "__main__":
    signer = MayoSigner(aioli.SigningKey.generate("mayo2"))
    root = Metadata(Root())
    root.signed.add_key(signer.public_key, "root")
    root.sign(signer)
    received = Metadata[Root].from_bytes(root.to_bytes())
    received.verify_delegate("root", received)
    received.signed.version += 1
    try:
        received.verify_delegate("root", received)
    except Exception as error:
        print(f"changed metadata is refused: {error}")
    else:
        raise SystemExit("changed metadata was accepted")
