"""A token that was never given out, and an address that no account has."""

from django.core import mail

from tests.support import OLD_PASSWORD, ResetCase, make_account


class Unknown(ResetCase):
    def test_no_unknown_token_accepted(self) -> None:
        self.new_token()
        self.assert_refused(self.confirm("A" * 22), "unknown_token_accepted")
        self.assert_password(OLD_PASSWORD)

    def test_no_mail_to_an_unknown_or_inactive_account(self) -> None:
        make_account("cy@example.test", active=False)
        for email in ("nobody@example.test", "cy@example.test"):
            self.assertEqual(self.ask(email).status_code, 202)
        self.assertEqual(mail.outbox, [])
