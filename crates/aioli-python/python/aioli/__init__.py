"""MAYO post-quantum signatures, with the methods that cryptography's keys have.

    key = aioli.SigningKey.generate("mayo1")
    signature = key.sign(b"a message")
    key.public_key().verify(signature, b"a message")  # None, or raises InvalidSignature

verify_table verifies tables of signatures, Arrow in and Arrow out.
"""

from ._aioli import (
    ALGORITHMS,
    Column,
    KeyTable,
    MessageHasher,
    SigningKey,
    VerifyingKey,
    __version__,
    load_private_key,
    load_public_key,
    sign_table,
    verify_certificate,
    verify_table,
)
from ._errors import InvalidSignature

__all__ = [
    "ALGORITHMS",
    "Column",
    "InvalidSignature",
    "KeyTable",
    "MessageHasher",
    "SigningKey",
    "VerifyingKey",
    "__version__",
    "load_private_key",
    "load_public_key",
    "sign_table",
    "verify_certificate",
    "verify_table",
]
