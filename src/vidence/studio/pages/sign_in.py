"""Signing in and out, by a name and a password or by the printed address; one's own password."""

from collections.abc import Iterator
from contextlib import contextmanager
from typing import Final

from django import forms
from django.conf import settings
from django.contrib.auth import update_session_auth_hash
from django.contrib.auth.forms import AuthenticationForm, PasswordChangeForm
from django.contrib.auth.views import LoginView
from django.core.exceptions import NON_FIELD_ERRORS, ValidationError
from django.db import DatabaseError
from django.http import HttpRequest, HttpResponse, HttpResponseRedirect
from django.shortcuts import redirect, render
from django.utils.crypto import get_random_string
from django.views.decorators.debug import sensitive_post_parameters

from vidence.studio.access import ANYONE, BOTH, SIGNED_IN, SOLO, route
from vidence.studio.accounts import key_of
from vidence.studio.audit import note
from vidence.studio.auth import LET_IN, end_session
from vidence.studio.middleware import address_of, count, left_s, note_trouble
from vidence.studio.pages.assisted import first_page
from vidence.studio.pages.faults import closed, fault
from vidence.studio.settings import current
from vidence.studio.times import end_work

MOST_TRIES: Final = 10
"""Wrong passwords for one name from one address before it has to wait until the `WINDOW_S` ends."""
MOST_OF_ADDRESS: Final = 100
"""Wrong passwords from one address, for any names."""
WINDOW_S: Final = 15 * 60
_MOST_NOTED: Final = 100
"""Refusals that are written down in one window, from all addresses."""
_KNOWN_S: Final = 180 * 24 * 3600
_WRONG: Final = (
    "The name or the password is wrong, or there were too many tries. Wait a moment and try again."
)
_LOCKED: Final = "locked"


class SignInForm(AuthenticationForm):
    """Django's sign-in form; failed attempts are counted by user name and address.

    Other addresses go on, and so does a browser that has signed in under the name before: it is counted by
    itself. So a name cannot be kept out by its wrong passwords.
    """

    error_messages = {"invalid_login": _WRONG, "inactive": _WRONG}  # noqa: RUF012 - as Django has it

    def clean_username(self) -> str:
        """The name as accounts are found by."""
        return key_of(self.cleaned_data["username"])

    def clean(self) -> dict[str, object]:
        """Try the password.

        Raises:
            ValidationError: it is wrong, or there were too many tries.
        """
        name, address = self.cleaned_data.get("username", ""), address_of(self.request)
        browser = self.request.get_signed_cookie(_cookie(), "", salt=name, max_age=_KNOWN_S)
        bounds = {f"sign-in {address} {name}": MOST_TRIES, f"sign-in {address}": MOST_OF_ADDRESS}
        bounds = {f"sign-in of {browser}": MOST_TRIES} if browser else bounds
        # Counted before it is tried, so that no more are tried at the same time; what raises stays counted.
        is_over = any([count(what, window_s=WINDOW_S) > most for what, most in bounds.items()])
        done = {} if is_over else super().clean()
        for what in bounds:
            count(what, window_s=WINDOW_S, by=-1)
        if is_over:
            raise ValidationError(_WRONG, code=_LOCKED)
        return done


class SignIn(LoginView):
    """The form of name and password, and what becomes of it."""

    template_name = "sign-in.html"
    authentication_form = SignInForm
    next_page = "start"

    def dispatch(self, request: HttpRequest, *args: object, **more: object) -> HttpResponse:
        """Answer, where there are accounts."""
        if current().settings.mode != "team":
            return fault(request, 404)
        return super().dispatch(request, *args, **more)

    def form_valid(self, form: SignInForm) -> HttpResponse:
        """Begin a session, in a browser that is known from now on."""
        user, answer = form.get_user(), super().form_valid(form)
        self.request.session["begun"] = get_random_string(22)  # no two sessions of an account are the same
        with _on_any_disk():
            note("signed-in", by=user.pseudonym)
        word, is_safe = get_random_string(22), settings.SESSION_COOKIE_SECURE
        rules = {"max_age": _KNOWN_S, "secure": is_safe, "httponly": True, "samesite": "Lax"}
        answer.set_signed_cookie(_cookie(), word, salt=user.key, **rules)
        return answer

    def form_invalid(self, form: SignInForm) -> HttpResponse:
        """The form again."""
        answer = super().form_invalid(form)
        if form.has_error(NON_FIELD_ERRORS, _LOCKED):
            answer.status_code = 429
            answer.headers["Retry-After"] = str(left_s(WINDOW_S))
        else:
            answer.status_code = 403
            if count("noted refusals", window_s=WINDOW_S) <= _MOST_NOTED:
                with _on_any_disk():
                    note("sign-in-refused")
        return answer


def _cookie() -> str:
    """The cookie by which a browser is known that has signed in before."""
    return f"{current().cookie}_known"


@contextmanager
def _on_any_disk() -> Iterator[None]:
    """Write what the door need not wait for; of a full disk the page of the server's state tells."""
    try:
        yield
    except DatabaseError as error:
        if not note_trouble(error):
            raise


def enter(request: HttpRequest) -> HttpResponse:
    """Let the browser in that has the printed address; the word is of no use a second time."""
    answer: HttpResponse
    if current().settings.mode != "team" and current().ticket.redeem(request.GET.get("ticket", "")):
        request.session.flush()
        request.session[LET_IN] = SOLO
        answer = HttpResponseRedirect(first_page())
    else:
        answer = closed(request)
    answer.headers["Referrer-Policy"] = "no-referrer"
    return answer


def sign_out(request: HttpRequest) -> HttpResponse:
    """End the session at once."""
    is_team, person = current().settings.mode == "team", request.person
    end_session(request)
    if is_team:
        with _on_any_disk():
            end_work(person.user)
            note("signed-out", by=person.name)
    return redirect("sign-in") if is_team else closed(request)


class OwnPasswordForm(PasswordChangeForm):
    """Django's form of another password, which takes the place of a first one."""

    def clean_new_password1(self) -> str:
        """The new one.

        Raises:
            ValidationError: it is the one until now.
        """
        password: str = self.cleaned_data["new_password1"]
        if password == self.data.get("old_password"):
            raise ValidationError("The new password is the current one; choose another.")
        return password

    def save(self, commit: bool = True) -> object:
        """Keep it."""
        self.user.has_first_password = False
        return super().save(commit)


@sensitive_post_parameters()
def password(request: HttpRequest) -> HttpResponse:
    """The form of a password of one's own; other sessions of the account end."""
    if current().settings.mode != "team":
        return fault(request, 404)
    user = request.user
    form: forms.Form = OwnPasswordForm(user, request.POST or None)
    if request.method == "POST" and form.is_valid():
        form.save()
        note("password-changed", by=user.pseudonym, about=user.pseudonym)
        update_session_auth_hash(request, user)
        return redirect("start")
    return render(request, "people/password.html", {"form": form}, status=400 if form.errors else 200)


urls = [
    route("enter", enter, name="enter", roles=ANYONE),
    route("sign-in", SignIn.as_view(), name="sign-in", roles=ANYONE, to=BOTH),
    route("sign-out", sign_out, name="sign-out", roles=SIGNED_IN, to=("POST",)),
    route("password", password, name="password", roles=SIGNED_IN, to=BOTH),
]
