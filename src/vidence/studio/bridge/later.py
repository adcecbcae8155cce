"""Things that take a while: made in a thread, one by one, while pages wait for them."""

from collections import OrderedDict
from collections.abc import Callable, Hashable
from concurrent.futures import Future
from concurrent.futures import TimeoutError as NotYet
from queue import SimpleQueue
from threading import Lock, Thread
from typing import Generic, TypeVar

ThingT = TypeVar("ThingT")


class Worker:
    """A thread that does one thing after the other; the end of the process does not wait for it."""

    def __init__(self, name: str) -> None:
        self._name = name
        self._lock = Lock()
        self._asked: SimpleQueue[Callable[[], None]] = SimpleQueue()
        self._thread: Thread | None = None

    def submit(self, make: Callable[[], ThingT]) -> "Future[ThingT]":
        """Have something done; what it raises is raised by the future."""
        future: Future[ThingT] = Future()

        def work() -> None:
            if future.set_running_or_notify_cancel():
                try:
                    future.set_result(make())
                except Exception as error:  # noqa: BLE001 - the one who waits for it gets it
                    future.set_exception(error)

        self._asked.put(work)
        with self._lock:
            if self._thread is None:
                self._thread = Thread(target=self._work, name=self._name, daemon=True)
                self._thread.start()
        return future

    def _work(self) -> None:
        while True:
            self._asked.get()()


class Later(Generic[ThingT]):
    """Keeps the last things that were made.

    Args:
        worker: makes them.
        most: how many are kept.
    """

    def __init__(self, worker: Worker, *, most: int) -> None:
        self._worker, self._most = worker, most
        self._lock = Lock()
        self._made: OrderedDict[Hashable, Future[ThingT]] = OrderedDict()

    def get(self, key: Hashable, make: Callable[[], ThingT], *, wait_s: float) -> ThingT | None:
        """The thing of this key; None if it is not made yet.

        What `make` raises is raised here, each time.

        Args:
            key: what it is made of.
            make: makes it.
            wait_s: how long to wait for it.
        """
        with self._lock:
            future = self._made.get(key)
            if future is None:
                future = self._made[key] = self._worker.submit(make)
            self._made.move_to_end(key)
            while len(self._made) > self._most:
                self._made.popitem(last=False)[1].cancel()
        try:
            return future.result(timeout=wait_s)
        except NotYet:
            return None
