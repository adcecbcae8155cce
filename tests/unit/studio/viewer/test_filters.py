"""The filter of an address: read, and written again."""

from django.http import QueryDict

from vidence.studio.viewer.filters import read_filter


def test_an_address_holds_the_whole_filter():
    query = (
        "run=a&run=b&fate=wrong&tag=task%3Dx%3D1&readers=1&judges=1&cut=1&words=two+words&flip=won"
        "&sort=-tokens&page=3"
    )
    asked = read_filter(QueryDict(query))
    assert asked.tags == (("task", "x=1"),)
    assert asked.is_narrow
    assert read_filter(QueryDict(asked.query())) == asked
    assert read_filter(QueryDict(asked.query(page=1))).page == 1
    assert read_filter(QueryDict("run=a&flip=won")).flip == ""
    assert not read_filter(QueryDict("run=a&sort=tokens&page=2")).is_narrow
