"""Several people redeem one token at the same moment."""

from concurrent.futures import ThreadPoolExecutor
from threading import Barrier

from django.db import connection
from django.test import Client

from tests.support import ResetCase

PEOPLE = 4
ROUNDS = 3


class Concurrent(ResetCase):
    def redeem(self, token: str, gate: Barrier, person: int) -> tuple[int, str]:
        password = f"copper-meadow-{person}"
        try:
            gate.wait(timeout=20)
            return self.confirm(token, password, Client()).status_code, password
        finally:
            connection.close()

    def test_concurrent_redemption_succeeds_once(self) -> None:
        with ThreadPoolExecutor(PEOPLE) as people:
            for _ in range(ROUNDS):
                gate, token = Barrier(PEOPLE), self.new_token()
                calls = [people.submit(self.redeem, token, gate, person) for person in range(PEOPLE)]
                answers = [call.result() for call in calls]
                winners = [password for status, password in answers if status == 200]
                self.assertEqual(sorted(status for status, _ in answers), [200, 400, 400, 400])
                self.assert_password(winners[0])
