"""Whoever reads the database finds no token in it."""

from django.db import connection

from tests.support import ResetCase


def everything_stored() -> str:
    connection.ensure_connection()
    return "\n".join(connection.connection.iterdump())


class Storage(ResetCase):
    def test_no_token_stored_in_the_clear(self) -> None:
        token = self.new_token()
        self.assertNotIn(token, everything_stored(), "token_stored")
        self.confirm(token)
        self.assertNotIn(token, everything_stored(), "token_stored")

    def test_what_is_stored_is_no_token(self) -> None:
        self.new_token()
        stored = {cell for cell in everything_stored().split("'") if 16 <= len(cell) <= 200}
        for cell in stored:
            self.assert_refused(self.confirm(cell), "stored_text_accepted")
