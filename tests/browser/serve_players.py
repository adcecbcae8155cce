"""A studio whose one more page holds players of the files that are named: ``NAME=KIND=PATH`` for each.

Run as a script: it prints the address as ``vidence studio`` does. What it needs besides is here.
"""

import sys
import threading
from pathlib import Path

from vidence.studio.app import configure
from vidence.studio.serving import Bind, address, listen, new_ticket, serve
from vidence.studio.settings import StudioSettings
from vidence.studio.upkeep import migrate

PAGE = """{% extends "base.html" %}
{% block title %}Players{% endblock %}
{% block head %}<link rel="stylesheet" href="{% asset 'player.css' %}">
<script type="module" src="{% asset 'player.js' %}"></script>{% endblock %}
{% block main %}<h1>Players</h1>
{% for one in media %}<section id="{{ one.name }}" data-player aria-label="{{ one.name }}"
 data-media="/media/{{ one.token }}" data-lanes="{{ lanes }}">
{% if one.kind == "video" %}<video controls preload="metadata"
 src="/media/{{ one.token }}/file"></video>{% endif %}
</section>{% endfor %}
<p><label for="note">Note</label> <input id="note"></p>{% endblock %}"""
LANES = (
    '[{"name":"shown to a model","frames":[3,17,31,38]},{"name":"evidence","spans":[[0.4,0.8],[1.0,1.2]]}]'
)


def main(data: Path, *named: str) -> None:
    """Serve until it is told to stop."""
    settings = StudioSettings(
        mode="solo", data=data, media_roots=tuple({Path(n.split("=")[2]).parent for n in named})
    )
    data.mkdir(parents=True, exist_ok=True)
    ticket = new_ticket()
    application = configure(settings, ticket=ticket)
    from django.http import HttpResponse, JsonResponse
    from django.template import engines

    from vidence.studio import urls
    from vidence.studio.access import EVERY_ROLE, route
    from vidence.studio.media import token_of

    kinds = {name: (kind, Path(path)) for name, kind, path in (one.split("=") for one in named)}

    def players(request):
        asked = request.GET.getlist("name") or list(kinds)
        media = [
            {"name": name, "kind": kinds[name][0], "token": token_of(kinds[name][1], kind=kinds[name][0])}
            for name in asked
        ]
        template = engines["django"].from_string(PAGE)
        return HttpResponse(
            template.render({"media": media, "lanes": request.GET.get("lanes", LANES)}, request)
        )

    def tokens(_request):
        return JsonResponse({name: token_of(path, kind=kind) for name, (kind, path) in kinds.items()})

    def threads(_request):
        n_open = len(list(Path("/proc/self/fd").iterdir())) if Path("/proc/self/fd").exists() else 0
        status = Path("/proc/self/status").read_text() if n_open else "VmRSS: 0 kB"
        memory = int(status.partition("VmRSS:")[2].split()[0])
        return JsonResponse({"threads": threading.active_count(), "open": n_open, "kb": memory})

    urls.urlpatterns += [
        route("players", players, name="players", roles=EVERY_ROLE),
        route("tokens", tokens, name="tokens", roles=EVERY_ROLE),
        route("threads", threads, name="threads", roles=EVERY_ROLE),
    ]
    migrate()
    bind = Bind()
    listening = listen(bind)
    print(f"players: {address(bind, listening)}/enter?ticket={ticket}", flush=True)  # noqa: T201
    serve(application, listening)


if __name__ == "__main__":
    main(Path(sys.argv[1]), *sys.argv[2:])
