"""A catalogue of a test's own, so that versions which never existed can be read and written."""

import json
import shutil
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest

from remit.codec import catalogue as catalogues
from remit.codec import codec, registration

Change = Callable[[dict[str, Any]], None]


class OwnSchemas:
    """A folder of schemas that starts with today's texts; `use` makes the codec read and write with it."""

    def __init__(self, folder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
        self.folder, self._monkeypatch = folder, monkeypatch
        for path in catalogues.folder().glob("*.avsc"):
            shutil.copy(path, folder)

    def register(self, topic: str, change: Change | None = None) -> int:
        """Register today's text of a topic, changed by `change`; the id that is current then."""
        today = (catalogues.folder() / f"{topic}.avsc").read_text("utf-8")
        schema = json.loads(today)
        if change is not None:
            change(schema)
        (self.folder / f"{topic}.avsc").write_text(today if change is None else json.dumps(schema), "utf-8")
        registration.register(registration.opened(self.folder))
        return self.use().newest(topic).id

    def use(self) -> catalogues.Catalogue:
        """Let the codec use what is registered now."""
        own = catalogues.Catalogue(self.folder)
        self._monkeypatch.setattr(codec, "catalogue", lambda: own)
        forget()
        return own


def forget() -> None:
    """Drop the schemas that the codec has parsed."""
    codec._writing.cache_clear()
    codec._reading.cache_clear()
    codec._parsed.cache_clear()


@pytest.fixture
def own_schemas(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[OwnSchemas]:
    """Schemas of this test alone."""
    yield OwnSchemas(tmp_path, monkeypatch)
    forget()
