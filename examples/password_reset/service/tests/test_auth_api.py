"""The authentication API that every change has to preserve."""

from django.test import Client, TestCase

from tests.support import OLD_PASSWORD, make_account, sign_in, whoami


class AuthApi(TestCase):
    def setUp(self) -> None:
        self.account = make_account()

    def test_sign_in_opens_a_session(self) -> None:
        response = sign_in(self.client, OLD_PASSWORD)
        self.assertEqual((response.status_code, response.json()), (200, {"email": "ada@example.test"}))
        self.assertEqual(whoami(self.client), "ada@example.test")

    def test_address_is_read_in_any_case(self) -> None:
        self.assertEqual(sign_in(self.client, OLD_PASSWORD, "Ada@Example.test").status_code, 200)

    def test_wrong_password_and_unknown_account_get_one_answer(self) -> None:
        wrong = sign_in(self.client, "not-the-password")
        unknown = sign_in(self.client, OLD_PASSWORD, "nobody@example.test")
        self.assertEqual((wrong.status_code, wrong.content), (401, b'{"error": "invalid_credentials"}'))
        self.assertEqual((unknown.status_code, unknown.content), (401, wrong.content))

    def test_inactive_account_cannot_sign_in(self) -> None:
        make_account("cy@example.test", active=False)
        self.assertEqual(sign_in(self.client, OLD_PASSWORD, "cy@example.test").status_code, 401)

    def test_fields_of_another_type_are_a_bad_request(self) -> None:
        for body in (
            "{",
            "[]",
            '{"email": 1, "password": "x"}',
            '{"email": "ada@example.test"}',
            '{"email": "\\ud800", "password": "x"}',
        ):
            response = self.client.post("/auth/login", body, content_type="application/json")
            self.assertEqual((response.status_code, response.json()), (400, {"error": "bad_request"}), body)

    def test_sign_out_ends_the_session(self) -> None:
        sign_in(self.client, OLD_PASSWORD)
        self.assertEqual(self.client.post("/auth/logout").status_code, 204)
        self.assertIsNone(whoami(self.client))

    def test_whoami_knows_nobody_without_a_session(self) -> None:
        self.assertIsNone(whoami(self.client))

    def test_only_the_named_methods_are_served(self) -> None:
        self.assertEqual(self.client.get("/auth/login").status_code, 405)
        self.assertEqual(self.client.get("/auth/logout").status_code, 405)
        self.assertEqual(self.client.post("/auth/whoami").status_code, 405)

    def test_a_browser_needs_the_csrf_token(self) -> None:
        browser = Client(enforce_csrf_checks=True)
        self.assertEqual(sign_in(browser, OLD_PASSWORD).status_code, 403)
        browser.get("/auth/whoami")
        browser.defaults["HTTP_X_CSRFTOKEN"] = browser.cookies["csrftoken"].value
        self.assertEqual(sign_in(browser, OLD_PASSWORD).status_code, 200)
