"""Synthetic accounts, a clock that tests move, and the calls that the tests make."""

import re
from collections.abc import Iterator
from contextlib import contextmanager
from datetime import UTC, datetime, timedelta
from unittest import mock

from django.core import mail
from django.http import HttpResponse
from django.test import Client, TransactionTestCase

from accounts.models import Account

OLD_PASSWORD = "heron-lagoon-73"
NEW_PASSWORD = "copper-meadow-58"
OTHER_PASSWORD = "violet-harbour-91"
START = datetime(2026, 3, 2, 9, 30, tzinfo=UTC)
TOKEN = re.compile(r"token=([A-Za-z0-9_-]+)")


def make_account(email: str = "ada@example.test", *, active: bool = True) -> Account:
    account = Account.objects.create_user(email, OLD_PASSWORD)
    account.is_active = active
    account.save()
    return account


def sign_in(client: Client, password: str, email: str = "ada@example.test") -> HttpResponse:
    fields = {"email": email, "password": password}
    return client.post("/auth/login", fields, content_type="application/json")


def whoami(client: Client) -> str | None:
    return client.get("/auth/whoami").json()["email"]


def facts(response: HttpResponse) -> tuple[int, bytes, dict[str, str]]:
    """All that a caller can see of an answer."""
    return response.status_code, response.content, dict(response.headers)


class Clock:
    """The time that `django.utils.timezone.now` tells during a test."""

    def __init__(self) -> None:
        self.time = START

    def __call__(self) -> datetime:
        return self.time

    def advance(self, **parts: float) -> None:
        self.time += timedelta(**parts)


@contextmanager
def stopped_clock() -> Iterator[Clock]:
    clock = Clock()
    with mock.patch("django.utils.timezone.now", clock):
        yield clock


class ResetCase(TransactionTestCase):
    """One account, a stopped clock, an empty mailbox, and the two calls of the reset."""

    def setUp(self) -> None:
        self.clock = self.enterContext(stopped_clock())
        self.account = make_account()

    def ask(self, email: object = "ada@example.test") -> HttpResponse:
        return self.client.post("/auth/password-reset", {"email": email}, content_type="application/json")

    def confirm(
        self, token: object, password: object = NEW_PASSWORD, client: Client | None = None
    ) -> HttpResponse:
        fields = {"token": token, "password": password}
        return (client or self.client).post(
            "/auth/password-reset/confirm", fields, content_type="application/json"
        )

    def new_token(self) -> str:
        """Ask for a reset and read the token from the mail that it sent."""
        sent = len(mail.outbox)
        self.ask()
        self.assertEqual(len(mail.outbox), sent + 1, "a request sends one mail")
        found = TOKEN.search(mail.outbox[-1].body)
        self.assertIsNotNone(found, "the mail carries a token")
        return found[1]

    def assert_password(self, password: str) -> None:
        self.assertTrue(Account.objects.get(pk=self.account.pk).check_password(password))

    def assert_refused(self, response: HttpResponse, fault: str) -> None:
        """Expect the one answer that any bad token gets."""
        self.assertEqual((response.status_code, response.json()), (400, {"error": "invalid_token"}), fault)
