"""A token holds 128 random bits."""

import base64

from tests.support import ResetCase


class Strength(ResetCase):
    def test_token_strength_is_128_bits(self) -> None:
        token = self.new_token()
        self.assertGreaterEqual(len(base64.urlsafe_b64decode(token + "==")) * 8, 128)

    def test_tokens_differ_at_one_moment_for_one_account(self) -> None:
        tokens = {self.new_token() for _ in range(5)}
        self.assertEqual(len(tokens), 5)

    def test_tokens_share_no_part(self) -> None:
        tokens = [self.new_token() for _ in range(5)]
        for place in range(0, len(tokens[0]) - 7, 4):
            self.assertEqual(len({token[place : place + 8] for token in tokens}), 5, "token_predictable")
