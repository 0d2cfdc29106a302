"""A reset ends the sessions that were open."""

from django.test import Client

from tests.support import OLD_PASSWORD, ResetCase, make_account, sign_in, whoami


class Sessions(ResetCase):
    def test_open_sessions_end_with_the_reset(self) -> None:
        thief, owner = Client(), Client()
        sign_in(thief, OLD_PASSWORD)
        sign_in(owner, OLD_PASSWORD)
        self.confirm(self.new_token(), client=owner)
        self.assertEqual([whoami(thief), whoami(owner)], [None, None])

    def test_sessions_stay_when_nothing_changed(self) -> None:
        sign_in(self.client, OLD_PASSWORD)
        self.confirm(self.new_token(), "short")
        self.assertEqual(whoami(self.client), "ada@example.test")

    def test_sessions_of_others_stay(self) -> None:
        make_account("bo@example.test")
        other = Client()
        sign_in(other, OLD_PASSWORD, "bo@example.test")
        self.confirm(self.new_token())
        self.assertEqual(whoami(other), "bo@example.test")
