"""Sets: who is as an atom compares a value, who is picked."""

from subjects.composing import wide_scene
from vidence.make.compose.scene_bits import SceneBits
from vidence.make.compose.sets import compared
from vidence.make.sources.composition import Compare, Literally, Values


def test_sizes_of_ordered_values_and_numbers():
    scene = wide_scene(3)
    bits = SceneBits(scene)
    atom = Compare(attribute="size", how=">", value=Literally(value="small"), condition="c1")
    found = compared(bits, "thing", atom, value="small")
    values = [bits.told(name, "size")[0] for name in scene.members["thing"]]
    assert [bool(found.must >> i & 1) for i in range(len(values))] == [v != ("small",) for v in values]


def test_one_of_several_values():
    bits = SceneBits(wide_scene(3))
    atom = Compare(attribute="size", how="in", value=Values(values=("large", "small")), condition="c1")
    each = [bits.compared("thing", "size", how="==", value=one) for one in ("large", "small")]
    found = compared(bits, "thing", atom, value=("large", "small"))
    assert (found.must, found.may) == (each[0].must | each[1].must, each[0].may | each[1].may)
    assert 0 < found.must.bit_count() < len(bits.members["thing"])
