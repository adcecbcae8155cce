"""Too much at once: what one browser or one address may change and search for in a while."""

from collections import OrderedDict
from datetime import datetime
from threading import Lock
from typing import Final

from vidence.records import Record

_MOST_KNOWN: Final = 20_000


class Rate(Record):
    """`at_once` requests may come together; after them one each 1 / `a_second` seconds."""

    at_once: int
    a_second: float


class Limits(Record):
    """What counts is what changes something or searches: signing in, saving, handing in, pages with words."""

    of_session: Rate = Rate(at_once=60, a_second=10)
    of_address: Rate = Rate(at_once=400, a_second=60)
    """A team may share one address."""


class Floods:
    """What has come lately, kept in this process; of many, those who were quiet longest are forgotten."""

    def __init__(self) -> None:
        self._left: OrderedDict[str, tuple[float, datetime]] = OrderedDict()
        self._lock = Lock()

    def wait_s(self, key: str, rate: Rate, now: datetime) -> float:
        """Count one request; the seconds to wait before it may come, 0 where it may.

        One that may not come is not counted: whoever waits as long as said gets through.
        """
        with self._lock:
            left, at = self._left.pop(key, (float(rate.at_once), now))
            left = min(rate.at_once, left + max(0.0, (now - at).total_seconds()) * rate.a_second)
            wait = 0.0 if left >= 1 else (1 - left) / rate.a_second
            self._left[key] = (left if wait else left - 1, now)
            while len(self._left) > _MOST_KNOWN:
                self._left.popitem(last=False)
        return wait
