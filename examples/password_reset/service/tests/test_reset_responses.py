"""Nobody learns from an answer whether an account exists, or why a token is bad."""

from django.core import mail
from django.core.mail.backends.base import BaseEmailBackend
from django.test import Client, override_settings

from tests.support import ResetCase, facts, make_account


class BrokenMail(BaseEmailBackend):
    def send_messages(self, _: object) -> int:
        raise OSError("the mail server is away")


class Responses(ResetCase):
    def test_known_unknown_and_inactive_accounts_get_one_answer(self) -> None:
        make_account("cy@example.test", active=False)
        emails = ("ada@example.test", "nobody@example.test", "cy@example.test", "", None)
        answers = [facts(self.ask(email)) for email in emails]
        self.assertEqual(answers[0][:2], (202, b'{"status": "accepted"}'))
        self.assertEqual(answers, answers[:1] * len(emails))

    def test_unknown_and_malformed_tokens_get_one_answer(self) -> None:
        answers = [facts(self.confirm(token)) for token in ("A" * 22, "short", None)]
        self.assertEqual(answers, answers[:1] * 3)

    @override_settings(EMAIL_BACKEND="tests.test_reset_responses.BrokenMail")
    def test_answer_does_not_depend_on_the_mail_server(self) -> None:
        self.assertEqual(facts(self.ask()), facts(self.ask("nobody@example.test")))
        self.assertEqual(mail.outbox, [])

    def test_answers_set_no_cookie(self) -> None:
        client = Client()
        self.confirm(self.new_token(), client=client)
        self.assertFalse(client.cookies)
