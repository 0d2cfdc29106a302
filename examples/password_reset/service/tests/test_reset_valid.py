"""A valid token changes the password."""

from datetime import timedelta

from django.test import Client

from tests.support import NEW_PASSWORD, OLD_PASSWORD, START, ResetCase, sign_in


class ValidToken(ResetCase):
    def test_valid_token_changes_the_password(self) -> None:
        response = self.confirm(self.new_token())
        self.assertEqual((response.status_code, response.json()), (200, {"status": "changed"}))
        self.assertEqual(sign_in(Client(), OLD_PASSWORD).status_code, 401)
        self.assertEqual(sign_in(Client(), NEW_PASSWORD).status_code, 200)

    def test_valid_until_just_before_fifteen_minutes(self) -> None:
        token = self.new_token()
        self.clock.time = START + timedelta(minutes=15, microseconds=-1)
        self.assertEqual(self.confirm(token).status_code, 200)

    def test_asking_alone_changes_nothing(self) -> None:
        self.new_token()
        self.assert_password(OLD_PASSWORD)

    def test_each_token_belongs_to_one_account(self) -> None:
        token = self.new_token()
        self.confirm(token)
        self.assertEqual(sign_in(Client(), NEW_PASSWORD, "bo@example.test").status_code, 401)
        self.assert_password(NEW_PASSWORD)
