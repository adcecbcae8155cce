"""Outcomes of jobs as bytes: pickled by a worker, read by a parent that does not trust it.

A file that exploits a decoder controls its worker. The parent therefore creates only plain values and data
classes: it calls only their constructors, imports nothing, and reads arrays as numbers in a buffer.
"""

import copyreg
import io
import pickle
import sys
from collections import OrderedDict
from collections.abc import Callable
from pathlib import PosixPath, WindowsPath
from typing import TYPE_CHECKING, Final, cast

from vidence.errors import MediaError, VidenceError

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray

Outcome = tuple[bool, object]  # whether it went well; what was made, or the error
# Beside classes of data: plain ones, and functions that make an array, or a record of a class that is named.
_PLAIN: Final = {
    *((kind.__module__, kind.__qualname__) for kind in (complex, range, OrderedDict, PosixPath, WindowsPath)),
    (__name__, "_array"),
    ("msgspec._utils", "rebuild"),
}
_ROOMS: Final = ("vidence.records", "vidence.media.", "vidence.seeing.", "vidence.make.pipeline.")
_MARKS: Final = ("__struct_fields__", "__dataclass_fields__")
_NUMBERS: Final = "biufcSU"


def dumps(value: object) -> bytes:
    """Serialise a value for `loads`.

    Raises:
        TypeError: an array of objects.
    """
    buffer = io.BytesIO()
    pickler = pickle.Pickler(buffer, pickle.HIGHEST_PROTOCOL)
    if numpy := sys.modules.get("numpy"):
        kinds = (numpy.ndarray, *numpy.sctypeDict.values())
        pickler.dispatch_table = copyreg.dispatch_table | dict.fromkeys(kinds, _reduced)
    pickler.dump(value)
    return buffer.getvalue()


def loads(key: str, content: bytes) -> object:
    """Deserialise a value.

    Args:
        key: the file that the job was about, for messages.
        content: what a worker sent; untrusted.

    Raises:
        MediaError: not a value, or it refers to something other than data.
    """
    try:
        return _Unpickler(io.BytesIO(content)).load()
    except Exception as error:
        raise no_result(key, f"{type(error).__name__}: {error}") from error


def no_result(key: str, why: str) -> MediaError:
    """Return the error for bytes that are not an outcome."""
    return MediaError(
        f"{key}: its decoder sent an invalid result ({why}), which can be an attack; it is skipped"
    )


def _reduced(value: "NDArray[np.generic] | np.generic") -> tuple[Callable[..., object], tuple[object, ...]]:
    """Reduce an array or NumPy number to a call of `_array`."""
    if value.dtype.kind not in _NUMBERS:
        raise TypeError(f"an array of {value.dtype} cannot be the result of a job; expected numbers or texts")
    return _array, (value.dtype.str, value.shape, pickle.PickleBuffer(value.reshape(-1).data))


def _array(kind: str, shape: tuple[int, ...], data: bytes) -> "NDArray[np.generic] | np.generic":
    import numpy as np

    dtype = np.dtype(kind)
    if dtype.kind not in _NUMBERS:
        raise TypeError(f"an array of {kind!r}")
    array = np.frombuffer(data, dtype).reshape(shape)
    return array if shape else cast("np.generic", array[()])


class _Unpickler(pickle.Unpickler):
    """Allows plain values, records and dataclasses of decoding and detection, and vidence's errors."""

    def find_class(self, module: str, name: str) -> object:
        """Return an allowed class from a module that is already loaded."""
        kind = getattr(sys.modules.get(module), name, None)
        if (module, name) in _PLAIN:
            return kind
        if isinstance(kind, type) and (kind.__module__, kind.__qualname__) == (module, name):
            is_data = module.startswith(_ROOMS) and any(hasattr(kind, mark) for mark in _MARKS)
            if is_data or issubclass(kind, VidenceError):
                return kind
        raise pickle.UnpicklingError(f"{module}.{name}")
