"""The settings for tests: a password hasher that is fast and weak, and a disk that is not waited for."""

from project.settings import *  # noqa: F403

PASSWORD_HASHERS = ["django.contrib.auth.hashers.MD5PasswordHasher"]
DATABASES["default"]["OPTIONS"]["init_command"] = "PRAGMA synchronous=OFF; PRAGMA journal_mode=MEMORY"  # noqa: F405
