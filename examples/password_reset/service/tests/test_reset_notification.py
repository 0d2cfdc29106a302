"""The owner hears of a changed password."""

from django.core import mail

from tests.support import NEW_PASSWORD, ResetCase


class Notification(ResetCase):
    def test_owner_is_told_of_the_change(self) -> None:
        token = self.new_token()
        self.confirm(token)
        note = mail.outbox[-1]
        self.assertEqual((len(mail.outbox), note.to), (2, ["ada@example.test"]))
        self.assertIn("changed", note.subject + note.body)

    def test_note_carries_neither_token_nor_password(self) -> None:
        token = self.new_token()
        self.confirm(token)
        text = mail.outbox[-1].subject + mail.outbox[-1].body
        self.assertNotIn(token, text)
        self.assertNotIn(NEW_PASSWORD, text)
        self.assertNotIn("token=", text)

    def test_no_note_when_nothing_changed(self) -> None:
        token = self.new_token()
        self.confirm("A" * 22)
        self.confirm(token, "short")
        self.assertEqual(len(mail.outbox), 1)
