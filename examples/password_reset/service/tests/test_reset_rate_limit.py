"""Five requests an hour for each account."""

from django.core import mail

from tests.support import ResetCase, facts, make_account


class RateLimit(ResetCase):
    def test_sixth_request_within_an_hour_sends_no_mail(self) -> None:
        answers = []
        for _ in range(6):
            answers.append(facts(self.ask()))
            self.clock.advance(minutes=11)
        self.assertEqual(len(mail.outbox), 5)
        self.assertEqual(answers, answers[:1] * 6)

    def test_address_in_another_case_is_the_same_account(self) -> None:
        for email in ("ada@example.test", "Ada@example.test", "ADA@EXAMPLE.TEST") * 3:
            self.ask(email)
        self.assertEqual(len(mail.outbox), 5)

    def test_each_account_has_its_own_limit(self) -> None:
        make_account("bo@example.test")
        for _ in range(6):
            self.ask()
        self.ask("bo@example.test")
        self.assertEqual(mail.outbox[-1].to, ["bo@example.test"])

    def test_an_hour_later_requests_are_served_again(self) -> None:
        for _ in range(6):
            self.ask()
        self.clock.advance(hours=1)
        self.new_token()

    def test_used_tokens_count(self) -> None:
        for _ in range(5):
            self.confirm(self.new_token())
        sent = len(mail.outbox)
        self.ask()
        self.assertEqual(len(mail.outbox), sent)
