"""The exception for signatures, which the native half raises."""

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    _Base = Exception
else:
    try:
        from cryptography.exceptions import InvalidSignature as _Base
    except ImportError:
        _Base = Exception


class InvalidSignature(_Base):
    """The signature is not valid for this message and key.

    Where cryptography is installed, this is also its exception of the same name.
    """
