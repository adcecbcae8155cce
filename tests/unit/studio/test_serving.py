"""Where a studio listens: not beyond this machine without accounts, nor without TLS."""

import asyncio
import socket

import pytest

from vidence.errors import UsageError
from vidence.studio.serving import Bind, Tls, address, listen, new_ticket, refuse_unsafe, try_tls

OPEN = ["0.0.0.0", "::", "192.168.1.4", "studio.lab.example", "10.0.0.1"]  # noqa: S104 - refused


@pytest.mark.parametrize("host", OPEN)
def test_beyond_this_machine_it_needs_accounts_and_tls(host, tmp_path):
    tls = Tls(certificate=tmp_path / "c", key=tmp_path / "k")
    for bind in (Bind(host=host), Bind(host=host, tls=tls), Bind(host=host, is_behind_proxy=True)):
        with pytest.raises(UsageError, match="no accounts"):
            refuse_unsafe(bind, has_accounts=False)
    with pytest.raises(UsageError, match="--tls CERT KEY, or --behind-proxy"):
        refuse_unsafe(Bind(host=host), has_accounts=True)
    refuse_unsafe(Bind(host=host, tls=tls), has_accounts=True)
    refuse_unsafe(Bind(host=host, is_behind_proxy=True), has_accounts=True)


def is_refused(bind):
    """Whether a studio without accounts may not listen there."""
    try:
        refuse_unsafe(bind, has_accounts=False)
    except UsageError:
        return True
    return False


@pytest.mark.parametrize("host", ["127.0.0.1", "127.8.8.8", "::1", "localhost"])
def test_on_this_machine_it_needs_neither(host):
    assert not is_refused(Bind(host=host))
    assert is_refused(Bind(host=f"1{host}" if host[0].isdigit() else f"{host}.example"))


def test_addresses_name_the_free_port_and_tickets_are_new(tmp_path):
    assert len({new_ticket() for _ in range(100)}) == 100
    assert min(len(new_ticket()) for _ in range(100)) >= 32
    bind = Bind(host="::1", tls=Tls(certificate=tmp_path, key=tmp_path))
    with listen(Bind()) as taken:
        assert address(bind, taken) == f"https://[::1]:{taken.getsockname()[1]}"
    bind = Bind()
    with listen(bind) as taken:
        port = taken.getsockname()[1]
        assert address(bind, taken) == f"http://127.0.0.1:{port}"
        with pytest.raises(UsageError, match="choose another --port"):
            listen(Bind(port=port))


async def no_delay_of(listening):
    """Whether asyncio sends each part of an answer at once on a connection that it took here."""
    told = asyncio.get_running_loop().create_future()

    def took(_reader, writer):
        taken = writer.get_extra_info("socket")
        told.set_result(taken.getsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY))
        writer.close()

    async with await asyncio.start_server(took, sock=listening):
        _, writer = await asyncio.open_connection(*listening.getsockname())
        writer.close()
        return await told


def test_no_part_of_an_answer_waits_for_an_acknowledgement():
    with listen(Bind()) as taken:
        assert asyncio.run(no_delay_of(taken))


def test_a_certificate_that_cannot_be_used_is_named(tmp_path):
    (tmp_path / "c.pem").write_text("no certificate")
    for name in ("c.pem", "absent.pem"):
        with pytest.raises(UsageError, match=rf"{name} and .* cannot be used for TLS"):
            try_tls(Tls(certificate=tmp_path / name, key=tmp_path / "c.pem"))
