"""A token works once."""

from tests.support import NEW_PASSWORD, OTHER_PASSWORD, ResetCase


class Reused(ResetCase):
    def test_no_reused_token_accepted(self) -> None:
        token = self.new_token()
        self.assertEqual(self.confirm(token).status_code, 200)
        self.clock.advance(minutes=1)
        self.assert_refused(self.confirm(token, OTHER_PASSWORD), "reused_token_accepted")
        self.assert_password(NEW_PASSWORD)
