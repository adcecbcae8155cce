"""Fifty people who want the same item at once, in threads of their own."""

import subprocess
import sys

RACE = """
import sys
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from vidence.studio.app import configure
from vidence.studio.settings import StudioSettings, now
from vidence.studio.upkeep import migrate, verify

configure(StudioSettings(mode="team", data=Path(sys.argv[1])))
migrate()
from django.db import connection
from vidence.studio.access import Person
from vidence.studio.reviewing import claim, release, take_next
from vidence.studio.projects import add_items, add_project
from vidence.studio.records.items import ItemRow
from vidence.studio.records.people import UserRow
from vidence.studio.records.work import AssignmentRow
from vidence.studio.workflow import Act, RecordedAct, act

project = add_project("films", "mmvu")
add_items(project, ["q1"], kinds={})
act(ItemRow.objects.get(), Act(kind="submit", role="author", by="ann", content={"question": "Which?"}))
people = []
for n in range(50):
    user = UserRow.objects.create(
        name=f"u{n}", key=f"u{n}", shown=f"u{n}", pseudonym=f"p{n:03}", password="!", created_at=now()
    )
    people.append(Person(name=user.pseudonym, shown="", roles={"": frozenset({"reviewer"})}, user=user))

def one(person):
    try:
        return type(claim(ItemRow.objects.select_related("project").get(), person)) is RecordedAct
    finally:
        connection.close()

with ThreadPoolExecutor(50) as pool:
    won = list(pool.map(one, people))
claims = AssignmentRow.objects.filter(state="claimed")
print(sum(won), claims.count(), claims.get().user.pseudonym == people[won.index(True)].name)
release(ItemRow.objects.select_related("project").get(), people[won.index(True)])

def next_of(person):
    try:
        return type(take_next(project, "reviewer", person=person)) is ItemRow
    finally:
        connection.close()

with ThreadPoolExecutor(50) as pool:
    won = list(pool.map(next_of, people))
print(sum(won), AssignmentRow.objects.filter(state="claimed").count(), list(verify()))
"""


def test_of_fifty_who_claim_an_item_at_once_one_gets_it(tmp_path):
    done = subprocess.run(
        [sys.executable, "-c", RACE, tmp_path], capture_output=True, text=True, check=False, timeout=120
    )
    assert (done.stdout, done.stderr) == ("1 1 True\n1 1 []\n", "")
