"""Somebody sends again what they saw on the way, or uses an older mail."""

from django.test import Client

from tests.support import NEW_PASSWORD, OTHER_PASSWORD, ResetCase


class Replay(ResetCase):
    def test_no_replayed_request_accepted(self) -> None:
        token = self.new_token()
        self.confirm(token)
        self.account.refresh_from_db()
        self.account.set_password(OTHER_PASSWORD)
        self.account.save()
        self.assert_refused(self.confirm(token, NEW_PASSWORD, Client()), "replayed_request_accepted")
        self.assert_password(OTHER_PASSWORD)

    def test_no_older_token_accepted_after_a_reset(self) -> None:
        older, newer = self.new_token(), self.new_token()
        self.assertEqual(self.confirm(newer).status_code, 200)
        self.assert_refused(self.confirm(older, OTHER_PASSWORD), "older_token_accepted")
        self.assert_password(NEW_PASSWORD)
