"""Take the pieces of a file that a browser uploads into the media folder of a project."""

from http import HTTPStatus

from django.http import HttpRequest, HttpResponse
from django.shortcuts import get_object_or_404

from vidence.studio.access import BOTH, PROJECT, route
from vidence.studio.pages.answers import as_json, whole_number
from vidence.studio.records.people import ProjectRow
from vidence.studio.uploads import append, finish, upload_of

_MOST_DIGITS = 15


def upload(request: HttpRequest, project: str) -> HttpResponse:
    """Say how many bytes of a file are there; a post appends its body at ``?at=``.

    The last piece registers the file. Errors are answered by `vidence.studio.middleware.FaultMiddleware`.
    """
    given = request.GET
    size, at = (whole_number(given.get(name, ""), most_digits=_MOST_DIGITS) for name in ("size", "at"))
    upload = upload_of(
        get_object_or_404(ProjectRow, slug=project),
        given.get("name", ""),
        size=size or 0,
        mark=given.get("mark", ""),
        by=request.person.name,
    )
    if upload.is_finished:
        return as_json({"there": upload.size, "path": upload.target.name})
    if request.method != "POST":
        return as_json({"there": upload.n_bytes})
    is_taken = append(upload, request.body, at=-1 if at is None else at)
    if is_taken and upload.n_bytes == upload.size:
        return as_json({"there": upload.size, "path": finish(upload).path})
    return as_json({"there": upload.n_bytes}, HTTPStatus.OK if is_taken else HTTPStatus.CONFLICT)


urls = [route(f"{PROJECT}/media/upload", upload, name="upload", roles={"author", "operator"}, to=BOTH)]
