"""JSON Web Tokens signed by MAYO, with PyJWT.

No such algorithm is registered: both sides must agree on its name.
"""

from typing import Any

import aioli
import jwt
from jwt.algorithms import Algorithm


class Mayo(Algorithm):
    def __init__(self, algorithm: str) -> None:
        self.algorithm = algorithm

    def prepare_key(self, key: Any) -> Any:
        if not isinstance(key, aioli.SigningKey | aioli.VerifyingKey) or key.algorithm != self.algorithm:
            raise jwt.InvalidKeyError(f"expected an Aioli key of {self.algorithm}, given {key!r}")
        return key

    def sign(self, msg: bytes, key: aioli.SigningKey) -> bytes:
        return key.sign(msg)

    def verify(self, msg: bytes, key: aioli.VerifyingKey, sig: bytes) -> bool:
        try:
            key.verify(sig, msg)
        except aioli.InvalidSignature:
            return False
        return True

    @staticmethod
    def to_jwk(key_obj: Any, as_dict: bool = False) -> Any:
        raise NotImplementedError("JSON Web Keys have no form for MAYO")

    @staticmethod
    def from_jwk(jwk: Any) -> Any:
        raise NotImplementedError("JSON Web Keys have no form for MAYO")


if __name__ == "__main__":
    jwt.register_algorithm("MAYO2", Mayo("mayo2"))
    key = aioli.SigningKey.generate("mayo2")
    token = jwt.encode({"sub": "a user"}, key, algorithm="MAYO2")  # type: ignore[arg-type]
    assert jwt.decode(token, key.public_key(), algorithms=["MAYO2"]) == {"sub": "a user"}  # type: ignore[arg-type]
    try:
        jwt.decode(token, aioli.SigningKey.generate("mayo2").public_key(), algorithms=["MAYO2"])  # type: ignore[arg-type]
    except jwt.InvalidSignatureError as error:
        print(f"another key refuses the token: {error}")
    else:
        raise SystemExit("another key accepted the token")
