"""Makes bad input out of dice: bytes, texts, documents, events. Pure; only the targets import it."""
