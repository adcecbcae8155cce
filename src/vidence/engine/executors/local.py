"""The executor of this machine: decoding in worker processes, asking in this one."""

from vidence.engine.executors.executor import DoneT, Duty
from vidence.engine.session import Session, ShownSubject


class LocalExecutor:
    """An `Executor`: the session works itself."""

    async def work(self, session: Session, duty: Duty[DoneT]) -> None:
        """Show every question, do the task with it, and keep what was made; see `Executor.work`."""

        async def ask(subject: ShownSubject) -> None:
            duty.keep(await duty.task(session, subject))

        n_consumers = min(duty.n_consumers, duty.most_each or duty.n_consumers)
        await session.work(duty.todo, ask, n_consumers=n_consumers, count=duty.count)
