"""What every format of event logs in the catalog must do; a sample of its own is in ``logs/NAME``."""

from pathlib import Path

import pytest

from subjects.samples import sample_folder
from vidence import catalog
from vidence.errors import DataError, UsageError
from vidence.make.sources.event_log import EventLogReader

NAMES = catalog.names("event-log")


def make(name: str, **options: str) -> EventLogReader:
    return catalog.create("event-log", catalog.Spec(name=name, options=options))


@pytest.mark.parametrize("name", NAMES)
class TestEventLog:
    def test_it_says_what_it_is_and_knows_its_options(self, name: str, tmp_path: Path) -> None:
        made = make(name)
        assert made.needs
        with pytest.raises(UsageError, match="no option 'nonsense'"):
            make(name, nonsense="x")
        with pytest.raises(DataError, match="there is nothing at"):
            made.read(tmp_path / "absent.csv")
        with pytest.raises(DataError, match="holds no event log"):
            made.read(tmp_path)

    @pytest.mark.parametrize("text", ["", "a,b\n1,2\n", '"'])
    def test_a_file_without_one_usable_row_is_an_error(self, name: str, text: str, tmp_path: Path) -> None:
        (tmp_path / "log.csv").write_text(text, encoding="utf-8")
        with pytest.raises(DataError, match=r"log\.csv.* no event that can be used: "):
            make(name).read(tmp_path / "log.csv")

    def test_its_sample_is_read_whole_in_the_order_of_time(self, name: str) -> None:
        folder = sample_folder("logs", name)
        log = make(name).read(folder)
        assert log.problems == ()
        assert log == make(name).read(folder)
        for video_id, events in log.events.items():
            assert {event.video_id for event in events} == {video_id}
            assert [e.start_s for e in events] == sorted(e.start_s for e in events)
            assert len({event.event_id for event in events}) == len(events)
            for event in events:
                assert 0 <= event.start_s < event.end_s
                assert event.verb
                assert event.noun in event.nouns
                assert len(event.nouns) == len(event.noun_classes)
