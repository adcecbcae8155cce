"""Configure Django from arguments, and return the application for a server."""

import importlib
import logging
import pkgutil
from pathlib import Path
from typing import cast

from django.apps import AppConfig
from django.conf import settings as django_settings

from vidence.errors import UsageError
from vidence.studio.bodies import MOST_BYTES, Application, with_limit
from vidence.studio.database import database, keep_private
from vidence.studio.settings import SESSION_S, Studio, StudioSettings, Ticket, new_secret

_HERE = "vidence.studio"
_MEMORY = {"BACKEND": "django.core.cache.backends.locmem.LocMemCache", "OPTIONS": {"MAX_ENTRIES": 20_000}}
LEAST_PASSWORD = 10


class StudioConfig(AppConfig):
    """The studio as a Django application; its models are the modules of `records`."""

    name = _HERE
    label = "studio"
    default_auto_field = "django.db.models.BigAutoField"

    def import_models(self) -> None:
        """Import the models, which are not in Django's default module."""
        from vidence.studio import records

        self.models = self.apps.all_models[self.label]
        for module in pkgutil.iter_modules(records.__path__):
            importlib.import_module(f"{records.__name__}.{module.name}")

    def ready(self) -> None:
        """Allow this process's connections to write."""
        from django.db.backends.signals import connection_created

        from vidence.studio.seals import introduce

        connection_created.connect(introduce)


def configure(settings: StudioSettings, *, secret: bytes | None = None, ticket: str = "") -> Application:
    """Configure Django for one studio, and return its application; once per process.

    Args:
        settings: what the studio is told.
        secret: what signs sessions and addresses of media; new by default.
        ticket: the word that lets one browser in; empty: none does.

    Raises:
        UsageError: this process has another studio already, or an address has no rule who may see it.
        StoreError: others may read the folder of the studio, and it belongs to another user.
    """
    if django_settings.configured:
        raise UsageError("this process already has a studio; start another process for another studio")
    keep_private(settings)
    key = secret or new_secret()
    studio = Studio(settings=settings, secret=key, ticket=Ticket(ticket))
    django_settings.configure(**settings_of_django(studio))
    import django

    django.setup()
    # What browsers may not have is their affair; a line for each would also repeat what they sent.
    for name in ("django.request", "django.security"):
        logging.getLogger(name).setLevel(logging.ERROR)
    logging.getLogger("django.security.DisallowedHost").setLevel(logging.CRITICAL)
    from django.core.asgi import get_asgi_application

    from vidence.studio.access import refuse_open_routes
    from vidence.studio.media import with_pieces
    from vidence.studio.urls import urlpatterns

    refuse_open_routes(urlpatterns)
    return with_limit(with_pieces(cast("Application", get_asgi_application())))


def settings_of_django(studio: Studio) -> dict[str, object]:
    """Return Django's settings for a studio."""
    settings = studio.settings
    fields: dict[str, object] = {
        "STUDIO": studio,
        "DEBUG": False,
        "SECRET_KEY": studio.secret.hex(),
        "ALLOWED_HOSTS": list(settings.hosts),
        "ROOT_URLCONF": f"{_HERE}.urls",
        "INSTALLED_APPS": [
            "django.contrib.auth",
            "django.contrib.contenttypes",
            "django.contrib.sessions",
            "django_htmx",
            f"{_HERE}.app.StudioConfig",
        ],
        "AUTH_USER_MODEL": "studio.UserRow",
        "AUTH_PASSWORD_VALIDATORS": [
            {
                "NAME": "django.contrib.auth.password_validation.MinimumLengthValidator",
                "OPTIONS": {"min_length": LEAST_PASSWORD},
            }
        ],
        "DATABASE_ROUTERS": [f"{_HERE}.database.Router"],
        "MIDDLEWARE": [
            f"{_HERE}.middleware.HeadersMiddleware",
            "django.middleware.security.SecurityMiddleware",
            "django.middleware.clickjacking.XFrameOptionsMiddleware",
            "django.middleware.common.CommonMiddleware",  # refuses other hosts
            f"{_HERE}.middleware.PathsMiddleware",
            f"{_HERE}.middleware.FloodMiddleware",
            "django.contrib.sessions.middleware.SessionMiddleware",
            "django.middleware.csrf.CsrfViewMiddleware",
            f"{_HERE}.bodies.NulMiddleware",
            f"{_HERE}.auth.AuthMiddleware",
            f"{_HERE}.auth.PolicyMiddleware",
            f"{_HERE}.middleware.FaultMiddleware",
        ],
        "TEMPLATES": [_templates()],
        "DATABASES": {"default": database(settings)},
        "CACHES": {"default": _MEMORY, "kept": {**_MEMORY, "LOCATION": "kept"}},
        "PASSWORD_HASHERS": [
            "django.contrib.auth.hashers.Argon2PasswordHasher",
            "django.contrib.auth.hashers.ScryptPasswordHasher",
        ],
        "DATA_UPLOAD_MAX_MEMORY_SIZE": MOST_BYTES,
        "DATA_UPLOAD_MAX_NUMBER_FIELDS": 2_000,
        "DATA_UPLOAD_MAX_NUMBER_FILES": 1,  # a submission
        "STATIC_URL": "/static/",
        "USE_TZ": True,
        "TIME_ZONE": "UTC",
        "USE_I18N": False,
        "LANGUAGE_CODE": "en",
        "LOGGING_CONFIG": None,
    }
    fields |= _sessions(studio, is_safe=settings.is_tls or settings.is_behind_proxy)
    if settings.is_behind_proxy:
        fields["SECURE_PROXY_SSL_HEADER"] = ("HTTP_X_FORWARDED_PROTO", "https")
    return fields


def _sessions(studio: Studio, *, is_safe: bool) -> dict[str, object]:
    """Return Django's settings for sessions and form tokens; secure cookies require TLS."""
    return {
        # In signed cookies: no stranger adds a row, and a disk that is full keeps nobody out.
        "SESSION_ENGINE": "django.contrib.sessions.backends.signed_cookies",
        "SESSION_COOKIE_NAME": studio.cookie,
        "SESSION_COOKIE_AGE": SESSION_S,
        "SESSION_COOKIE_SAMESITE": "Lax",
        "SESSION_COOKIE_SECURE": is_safe,
        "SESSION_EXPIRE_AT_BROWSER_CLOSE": True,
        "CSRF_COOKIE_NAME": f"{studio.cookie}_form",
        "CSRF_COOKIE_AGE": None,
        "CSRF_COOKIE_HTTPONLY": True,
        "CSRF_COOKIE_SECURE": is_safe,
        "CSRF_FAILURE_VIEW": f"{_HERE}.pages.faults.forbidden",
    }


def _templates() -> dict[str, object]:
    return {
        "BACKEND": "django.template.backends.django.DjangoTemplates",
        "DIRS": [Path(__file__).parent / "templates"],
        "APP_DIRS": False,
        "OPTIONS": {
            "context_processors": [
                "django.template.context_processors.request",
                f"{_HERE}.auth.for_templates",
            ],
            "libraries": {"studio": f"{_HERE}.assets"},
            "builtins": [f"{_HERE}.assets"],
        },
    }
