"""Read the JSON body of a request."""

import json

from django.http import HttpRequest


def read_fields(request: HttpRequest) -> dict[str, object]:
    """Return the fields of the JSON object in the body, an empty dict when there is none."""
    try:
        body = json.loads(request.body)
        json.dumps(
            body, ensure_ascii=False
        ).encode()  # half a surrogate pair is no text, and nothing could store it
    except ValueError:
        return {}
    return body if isinstance(body, dict) else {}
