"""A token ends fifteen minutes after it was asked for."""

from tests.support import OLD_PASSWORD, ResetCase


class Expired(ResetCase):
    def test_no_expired_token_accepted(self) -> None:
        token = self.new_token()
        self.clock.advance(minutes=15)
        self.assert_refused(self.confirm(token), "expired_token_accepted: 15 minutes old")
        self.clock.advance(days=30)
        self.assert_refused(self.confirm(token), "expired_token_accepted: 30 days old")
        self.assert_password(OLD_PASSWORD)
