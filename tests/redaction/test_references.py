"""References of inputs are no logins."""

from remit.redaction import finds, redact

COMMIT = "0f3c9ab1" * 5


def test_a_repository_reference_stays_whole() -> None:
    """However long its name; a password in one is still taken out."""
    reference = f"repo://accounts-service@commit:{COMMIT}"
    assert (redact(reference), finds(reference)) == (reference, [])
    assert "hunter2hunter2" not in redact("repo://name:hunter2hunter2@host/x")
    assert "t0kent0kent0kent0k" not in redact("https://t0kent0kent0kent0k@host/x")
