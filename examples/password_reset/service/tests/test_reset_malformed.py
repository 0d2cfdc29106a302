"""A token of any other form is refused like every bad token."""

from tests.support import OLD_PASSWORD, ResetCase

FORMS = (
    "",
    " ",
    "short",
    "A" * 21,
    "A" * 23,
    "A" * 100_000,
    "é" * 22,
    "A" * 21 + "\n",
    "A" * 21 + "\0",
    "\ud800" * 22,
    None,
    7,
    True,
    [],
    ["A" * 22],
    {},
)


class Malformed(ResetCase):
    def test_no_malformed_token_accepted(self) -> None:
        for form in FORMS:
            self.assert_refused(self.confirm(form), "malformed_token_accepted")
        self.assert_password(OLD_PASSWORD)

    def test_no_malformed_body_accepted(self) -> None:
        for body in (b"", b"{", b"[]", b"null", b"\xff", b"{}"):
            response = self.client.post("/auth/password-reset/confirm", body, content_type="application/json")
            self.assert_refused(response, "malformed_body_accepted")

    def test_malformed_address_gets_the_usual_answer(self) -> None:
        for email in ("", "no address", "a" * 100_000, "\0", "\ud800", None, 7, [], {}):
            self.assertEqual(self.ask(email).status_code, 202)

    def test_only_post_is_served(self) -> None:
        self.assertEqual(self.client.get("/auth/password-reset").status_code, 405)
        self.assertEqual(self.client.get("/auth/password-reset/confirm").status_code, 405)
