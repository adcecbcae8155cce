"""Author items: register media, create items, edit forms with automatic checks, handle returned items."""

from http import HTTPStatus
from typing import Final, cast
from uuid import UUID

import msgspec
from django.http import Http404, HttpRequest, HttpResponse
from django.shortcuts import get_object_or_404, redirect, render

from vidence.errors import MediaError, UsageError
from vidence.studio import admission
from vidence.studio.access import BOTH, ITEM, PROJECT, route
from vidence.studio.accounts import account_of, known_account
from vidence.studio.bridge.items import wording_of
from vidence.studio.checking import MachineChecks, check, quota
from vidence.studio.drafts import Conflict, new_request, save
from vidence.studio.intake import (
    MediumKind,
    add_medium,
    candidates,
    n_items_of,
    new_item,
    pictured,
    roots_of,
    shown_media,
)
from vidence.studio.pages.annotate_fields import FormContext, group_of, groups_of, in_written_parts
from vidence.studio.pages.answers import as_json, is_script, item_named, saved_as_json, version_in
from vidence.studio.records.items import ItemRow, MediumRow
from vidence.studio.records.people import ProjectRow, UserRow
from vidence.studio.records.work import DraftRow
from vidence.studio.rules.faults import FieldRemark
from vidence.studio.rules.forms import FORMS, Kind, fields_of, form_named, position_balance, read_form
from vidence.studio.rules.forms import KINDS as ITEM_KINDS
from vidence.studio.rules.wording import FieldDiff, Wording, field_diffs, frame_numbers, seconds
from vidence.studio.workflow import RecordedAct, Refused, protocol_of, to_revision
from vidence.studio.writing import (
    WRITABLE,
    Desk,
    decoded,
    desk_of,
    draft_of,
    encoded,
    folder_of,
    form_of_project,
    hand_in,
    is_writer,
    shown_draft,
    why_returned,
)

_CONTROL: Final = frozenset({"csrfmiddlewaretoken", "version", "request", "action", "seen"})
_MOST_AT_ONCE: Final = 20


# --------------------------------------------------------------------------- media


def intake(request: HttpRequest, project: str) -> HttpResponse:
    """List the media of a project and the unregistered files in its folders."""
    row = get_object_or_404(ProjectRow, slug=project)
    faults: list[str] = []
    if request.method == "POST":
        faults = _take_in(row, request)
        if not faults:
            return redirect("intake", project)
    words = request.GET.get("q", "")[:200]
    entries, is_more = candidates(row, words=words)
    form = FORMS[form_of_project(row)]
    try:
        most = quota(form, folder_of(row))
    except UsageError as error:
        most, faults = form.per_video, [*faults, str(error)]
    media = [(medium, n_items_of(medium)) for medium in row.media.order_by("path")]
    fields = {
        "project": row,
        "roots": roots_of(row),
        "found": [candidate for candidate in entries if not candidate.is_taken],
        "is_more": is_more,
        "media": media,
        "quota": most,
        "words": words,
        "faults": faults,
    }
    return render(
        request, "annotate/media.html", fields, status=HTTPStatus.BAD_REQUEST if faults else HTTPStatus.OK
    )


def _take_in(project: ProjectRow, request: HttpRequest) -> list[str]:
    """Register the selected media; report rejected ones."""
    faults = []
    ticked = request.POST.getlist("path")[:_MOST_AT_ONCE]
    if not ticked:
        return ["Nothing is selected."]
    for entry in ticked:
        kind, _, path = entry.partition(":")
        try:
            add_medium(
                project,
                path,
                kind=cast("MediumKind", kind),
                url=request.POST.get("url", "") if len(ticked) == 1 else "",
                source_id=request.POST.get("source", ""),
            )
        except (MediaError, UsageError) as error:
            faults.append(str(error))
    return faults


def new(request: HttpRequest, project: str) -> HttpResponse:
    """Begin an item: on which media, in which form."""
    row = get_object_or_404(ProjectRow, slug=project)
    wrong = admission.refusal(request.person.name, row, protocol_of(row), role="author")
    is_closed = bool(wrong)
    if request.method == "POST" and not is_closed:
        try:
            item = _begin(row, request)
        except UsageError as error:
            wrong = str(error)
        else:
            return redirect("edit-item", project, item.public)
    usual = form_of_project(row)
    fields = {
        "project": row,
        "media": [
            (medium, n_items_of(medium)) for medium in row.media.filter(state="usable").order_by("path")
        ],
        "forms": [
            (f"{form.name}/{kind}", f"{form.title}: {ITEM_KINDS[kind]}", form.name == usual and n == 0)
            for form in FORMS.values()
            for n, kind in enumerate(form.kinds)
            if kind != "made"
        ],
        "ticked": request.POST.getlist("medium"),
        "wrong": wrong,
        "is_closed": is_closed,
    }
    status = HTTPStatus.OK
    if wrong and request.method == "POST":
        status = HTTPStatus.CONFLICT if is_closed else HTTPStatus.BAD_REQUEST
    return render(request, "annotate/new.html", fields, status=status)


def _begin(project: ProjectRow, request: HttpRequest) -> ItemRow:
    name, _, kind = request.POST.get("form", "").partition("/")
    form = form_named(name)
    if kind not in form.kinds:
        raise UsageError(f"the form {name} has no kind {kind!r:.40}; expected {', '.join(form.kinds)}")
    known = {str(value.public): value for value in MediumRow.objects.filter(project=project, state="usable")}
    ticked = request.POST.getlist("medium")
    if unknown := [entry for entry in ticked if entry not in known]:
        raise UsageError(f"there is no medium {unknown[0]!r:.60} in this project; register it first")
    media = [known[entry] for entry in dict.fromkeys(ticked)]
    return new_item(
        project,
        media,
        kind=kind,
        form=name,
        author=account_of(request.person),
        quota=quota(form, folder_of(project)),
    )


# --------------------------------------------------------------------------- the form


def edit(request: HttpRequest, project: str, item: UUID) -> HttpResponse:
    """The form of one item; a post saves it, and hands it in where a button of the form sent it."""
    row = item_named(project, item)
    is_post = request.method == "POST"
    user = account_of(request.person) if is_post else known_account(request.person)
    if not is_writer(row, request.person.name):
        raise Http404
    if row.state not in WRITABLE:
        if is_script(request):
            return as_json(
                {"closed": True, "words": f"It was handed in and is {row.state}."}, HTTPStatus.CONFLICT
            )
        return redirect("item", project, item)
    if user is None or not is_post:
        return _page(request, desk_of(row, author=request.person.name), shown_draft(row, user))
    return _post(request, row, draft_of(row, user), user=user)


def _post(request: HttpRequest, item: ItemRow, draft: DraftRow, *, user: UserRow) -> HttpResponse:
    """Save what was written; a script is answered at once, and asks for the checks by itself."""
    values = {name: request.POST.get(name, "") for name in request.POST if name not in _CONTROL}
    written = read_form(values, new_id=_new_id)
    result = save(
        draft, body=encoded(written), seen=version_in(request), request=request.POST.get("request", "")
    )
    if isinstance(result, Conflict):
        if is_script(request):
            return saved_as_json(result)
        return _conflict(request, item, mine=written, found=result)
    if item.author_id is None:
        ItemRow.objects.filter(pk=item.pk, author=None).update(author=user)
    if is_script(request):
        return saved_as_json(result)
    if request.POST.get("action") == "submit":
        draft.refresh_from_db()
        return _handed_in(request, desk_of(item, author=request.person.name), draft, user=user)
    return redirect("edit-item", item.project.slug, item.public)


def _handed_in(request: HttpRequest, desk: Desk, draft: DraftRow, *, user: UserRow) -> HttpResponse:
    hand = hand_in(desk, draft, user, seen=version_in(request, "seen"))
    if isinstance(hand, RecordedAct):
        return redirect("item", desk.item.project.slug, desk.item.public)
    if isinstance(hand, Refused):
        return _page(request, desk, draft, refused=hand.reason, status=HTTPStatus.CONFLICT)
    n = len(hand.faults)
    words = f"Not handed in: {n} {'thing is' if n == 1 else 'things are'} to be mended first. It is saved."
    return _page(request, desk, draft, refused=words, checked=hand, status=HTTPStatus.UNPROCESSABLE_ENTITY)


def _page(
    request: HttpRequest,
    desk: Desk,
    draft: DraftRow,
    *,
    refused: str = "",
    checked: MachineChecks | None = None,
    status: int = HTTPStatus.OK,
) -> HttpResponse:
    """The form as it is saved."""
    item = desk.item
    written = decoded(draft.body)
    if not written.language and item.project.languages:
        written = msgspec.structs.replace(written, language=str(item.project.languages[0]))
    checks = checked or check(written, desk.told)
    remarks = checks.said if refused else in_written_parts(checks.said, written)
    previews = shown_media(desk.rows, item.project)
    returned = why_returned(item, protocol_of(item.project))
    groups = groups_of(
        written,
        desk.form,
        cast("Kind", item.kind),
        beside=FormContext(
            media=[preview.name for preview in previews],
            shapes=desk.told.media,
            new_id=_new_id,
            said=remarks,
            marks=returned.marks if returned else (),
        ),
    )
    diffs: tuple[FieldDiff, ...] = ()
    if returned and item.current is not None:
        before = wording_of(to_revision(item.current, item.item_id).content)
        diffs = field_diffs(fields_of(before), fields_of(written))
        diffs = tuple(diff for diff in diffs if not diff.name.endswith("-id"))
    fields = {
        "item": item,
        "project": item.project,
        "form": desk.form,
        "draft": draft,
        "groups": groups,
        "players": [(preview, _lanes(written, n), desk.told.media[n]) for n, preview in enumerate(previews)],
        "pictured": pictured(previews, desk.told.media, written),
        "returned": returned,
        "changed": written.changed,
        "diffs": diffs,
        "first_marked": next((group.name for group in groups if group.marks), ""),
        "refused": refused,
        "request_word": new_request(),
        **_checks(desk, checks, remarks, balance=True),
    }
    return render(request, "annotate/edit.html", fields, status=status)


def _lanes(written: Wording, medium: int) -> str:
    """The evidence on one medium, as the player draws it."""
    lanes = []
    for kind in ("referred", "proactive", "oracle"):
        marks = [mark for mark in written.evidence if mark.kind == kind and mark.medium == medium]
        times = [(seconds(mark.start), seconds(mark.end)) for mark in marks]
        spans = [[start, end] for start, end in times if start is not None and end is not None]
        frames = sorted({index for mark in marks for index in frame_numbers(mark.frames) or ()})
        lane = {"name": kind, "spans": spans, "frames": frames}
        if spans or frames:
            lanes.append({name: values for name, values in lane.items() if values})
    return msgspec.json.encode(lanes).decode()


def _checks(
    desk: Desk, checks: MachineChecks, remarks: tuple[FieldRemark, ...], *, balance: bool = False
) -> dict[str, object]:
    """The panel of automatic checks with those remarks that are shown now."""
    fields: dict[str, object] = {
        "said": [(remark, group_of(remark.field)) for remark in remarks],
        "is_partial": len(remarks) < len(checks.said),
        "licences": checks.licences,
        "verdicts": checks.verdicts,
        "proof": checks.proof,
    }
    if balance and desk.form.wrong:
        fields["balance"] = _balance(desk)
    return fields


def _balance(desk: Desk) -> list[tuple[str, int]]:
    """How often the right option stands at each letter, in the items of the project that were handed in."""
    kept = ItemRow.objects.filter(project=desk.item.project, current__isnull=False, kind=desk.item.kind)
    contents = (msgspec.json.decode(entry) for entry in kept.values_list("current__content", flat=True))
    answers = [str(content.get("answer", "")) for content in contents if content.get("choices")]
    n_options = desk.form.wrong + 1
    counts = position_balance(answers, n_options=n_options)
    return [(chr(ord("A") + place), n) for place, n in enumerate(counts)]


def checks_panel(request: HttpRequest, project: str, item: UUID) -> HttpResponse:
    """Run the automatic checks on the saved item, for the panel of its form."""
    row = item_named(project, item)
    if row.state not in WRITABLE or not is_writer(row, request.person.name):
        raise Http404
    desk = desk_of(row, author=request.person.name)
    written = decoded(shown_draft(row, known_account(request.person)).body)
    checks = check(written, desk.told)
    remarks = checks.said if "all" in request.GET else in_written_parts(checks.said, written)
    return render(request, "annotate/checks.html", _checks(desk, checks, remarks))


def _conflict(request: HttpRequest, item: ItemRow, *, mine: Wording, found: Conflict) -> HttpResponse:
    """Show both texts if another version was saved meanwhile."""
    theirs = decoded(found.body)
    differing = field_diffs(fields_of(theirs), fields_of(mine))
    fields = {
        "item": item,
        "project": item.project,
        "found": found,
        "diffs": [diff for diff in differing if not diff.name.endswith("-id")],
        "mine": fields_of(mine).items(),
        "request_word": new_request(),
    }
    return render(request, "annotate/conflict.html", fields, status=HTTPStatus.CONFLICT)


def _new_id() -> str:
    """Twelve letters that an option is called by."""
    return new_request()[:12]


urls = [
    route(f"{PROJECT}/media/", intake, name="intake", roles={"author", "operator"}, to=BOTH),
    route(f"{PROJECT}/new/", new, name="new-item", roles={"author"}, to=BOTH),
    route(f"{ITEM}/edit/checks", checks_panel, name="item-checks", roles={"author"}),
    route(f"{ITEM}/edit", edit, name="edit-item", roles={"author"}, to=BOTH),
]
