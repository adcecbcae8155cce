"""The public verbs from Python, as in a notebook."""

import asyncio

import pytest

import vidence
from servers.openai_stub import OpenAIStub
from vidence.errors import UnknownNameError


def test_evaluate_returns_the_run_also_where_a_loop_is_running(tmp_path, questions):
    path = questions(n_clips=2, n_questions=3)

    async def notebook(address: str) -> "vidence.report.results.Run":
        return vidence.evaluate(
            "table",
            data=path,
            model=f"openai:m?base_url={address}",
            out=tmp_path / "run",
            cache=tmp_path / "cache",
            wishes={"n_frames": 2, "limit": 4},
        )

    with OpenAIStub(answer="Answer: A") as server:
        run = asyncio.run(notebook(server.base_url))
        again = asyncio.run(notebook(server.base_url))
        assert server.n_requests == 4
    assert [row.correct for row in run.rows] == [row.correct for row in again.rows] == [1.0, 0.0, 0.0, 0.0]


def test_evaluate_says_what_is_wrong(tmp_path):
    with pytest.raises(UnknownNameError, match="Did you mean 'table'"):
        vidence.evaluate("tabel", data="x", model="scripted:A", out=tmp_path, cache=tmp_path)
