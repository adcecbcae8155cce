"""What every format of motion capture in the catalog must do."""

import gzip

import numpy as np
import pytest

from vidence import catalog
from vidence.errors import DataError, UsageError
from vidence.pointlight.reading import open_format

NAMES = catalog.names("mocap-format")


@pytest.mark.parametrize("name", NAMES)
def test_it_takes_units_and_a_rate_and_refuses_what_it_does_not_know(name, tmp_path):
    open_format(name, {"units": "mm", "fps": "60"})
    with pytest.raises(UsageError, match="no option 'colour'"):
        open_format(name, {"colour": "red"})
    with pytest.raises(UsageError, match="fps='fast' cannot be read"):
        open_format(name, {"fps": "fast"})
    with pytest.raises(UsageError, match="fps='-1' cannot be read"):
        open_format(name, {"fps": "-1"})
    with pytest.raises(UsageError, match="units='furlong' is no unit; known are m, cm"):
        open_format(name, {"units": "furlong"})
    with pytest.raises(DataError, match="no such file"):
        open_format(name).read(tmp_path / "gone.x")
    made = open_format(name)
    assert made.name == name
    assert made.version >= 1
    assert made.suffixes
    assert all(s.startswith(".") and s == s.lower() and not s.endswith(".gz") for s in made.suffixes)
    made = open_format(name)
    for head in ("", "\n", "Dear reader,\nthis is a letter.\n", "1,2,3\n4,5,6\n", "{}", "PK\x03\x04"):
        assert not made.recognises(head)


@pytest.mark.parametrize("name", ["asf-amc", "bvh", "expmap"])
def test_a_skeleton_that_is_not_there_is_said_before_anything_is_read(name, tmp_path):
    with pytest.raises(UsageError, match=r"skeleton=.*13.asf: there is no such file; expected an ASF"):
        open_format(name, {"skeleton": str(tmp_path / "13.asf")})


@pytest.mark.parametrize("name", NAMES)
@pytest.mark.parametrize(
    "data",
    [
        b"",
        b"\n \n",
        b"Dear reader,\nthis is a letter.\n",
        bytes(np.random.default_rng(0).integers(0, 256, 3000, dtype=np.uint8)),
        gzip.compress(b"Dear reader", mtime=0)[:-4],
    ],
    ids=["empty", "blank", "letter", "noise", "cut gzip"],
)
def test_what_is_no_such_file_is_refused_by_name(name, data, tmp_path):
    made = open_format(name)
    path = tmp_path / f"thing{made.suffixes[0]}"
    path.write_bytes(data)
    with pytest.raises(DataError, match="thing"):
        made.read(path)


def test_no_two_formats_recognise_the_same_text():
    texts = {
        "asf-amc": ":FULLY-SPECIFIED\n:DEGREES\n1\nroot 0 0 0 0 0 0\n",
        "bvh": "HIERARCHY\nROOT Hips\n{\n",
        "data3d": ("\t".join(["1.5"] * 13) + "\n") * 3,
        "expmap": ",".join(["0.1"] * 117) + "\n",
        "leuven": "frames = 2 markers = 13 Hz = 30\n1 2 3\n",
        "marker-table": "Field\tTime\tC7:X\tC7:Y\tC7:Z\n",
    }
    assert set(texts) | {"c3d"} <= set(NAMES)
    for own, text in texts.items():
        assert [n for n in NAMES if open_format(n).recognises(text)] == [own]
