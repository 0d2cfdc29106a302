"""The new password meets the password policy, and a refused one does not use the token up."""

from tests.support import OLD_PASSWORD, ResetCase

WEAK = ("", "short", "12345678901234567", "password1234", "ada@example.test")


class PasswordPolicy(ResetCase):
    def test_weak_password_is_refused_with_reasons(self) -> None:
        token = self.new_token()
        for password in WEAK:
            response = self.confirm(token, password)
            self.assertEqual(
                (response.status_code, response.json()["error"]), (422, "weak_password"), password
            )
            self.assertTrue(response.json()["messages"])
        self.assert_password(OLD_PASSWORD)

    def test_token_still_works_after_a_weak_password(self) -> None:
        token = self.new_token()
        self.confirm(token, "short")
        self.assertEqual(self.confirm(token).status_code, 200)

    def test_password_of_another_type_is_weak(self) -> None:
        token = self.new_token()
        for password in (None, 7, ["copper-meadow-58"], {}):
            self.assertEqual(self.confirm(token, password).status_code, 422)

    def test_policy_says_nothing_without_a_good_token(self) -> None:
        self.assert_refused(self.confirm("A" * 22, "short"), "bad_token_told_apart")
