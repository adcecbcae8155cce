"""An event loop whose time jumps to the next thing to do: minutes of waiting cost nothing.

Only for code that waits for time and for other tasks; threads and processes need real time.
"""

import asyncio
import functools
import selectors
from collections.abc import Awaitable, Callable
from typing import TypeVar

import anyio

T = TypeVar("T")


class _Selector(selectors.DefaultSelector):
    """Never waits: tells how long the loop would have waited."""

    def __init__(self) -> None:
        super().__init__()
        self.now_s = 0.0

    def select(self, timeout: float | None = None) -> list[tuple[selectors.SelectorKey, int]]:
        ready = super().select(0)
        if not ready:
            assert timeout is not None, "everybody waits for ever"
            self.now_s += max(timeout, 0.0)
        return ready


class _Loop(asyncio.SelectorEventLoop):
    def __init__(self) -> None:
        self._virtual = _Selector()
        super().__init__(self._virtual)

    def time(self) -> float:
        return self._virtual.now_s


def run(work: Callable[[], Awaitable[T]]) -> T:
    """Run to the end in virtual time, which starts at 0."""
    return anyio.run(work, backend_options={"loop_factory": _Loop})


def in_virtual_time(test: Callable[..., Awaitable[None]]) -> Callable[..., None]:
    """A test that is a coroutine, run in virtual time."""
    return functools.wraps(test)(lambda *given, **named: run(functools.partial(test, *given, **named)))


def in_loop(test: Callable[..., Awaitable[None]]) -> Callable[..., None]:
    """A test that is a coroutine, run in an event loop."""
    return functools.wraps(test)(lambda *given, **named: anyio.run(functools.partial(test, *given, **named)))
