"""What the service stores about an account."""

from django.contrib.auth.base_user import AbstractBaseUser, BaseUserManager
from django.db import models


class Accounts(BaseUserManager):
    def create_user(self, email: str, password: str | None = None) -> "Account":
        """Create an account; addresses are kept in lower case."""
        account = self.model(email=email.lower())
        account.set_password(password)
        account.save()
        return account


class Account(AbstractBaseUser):
    """A person who signs in with an e-mail address."""

    email = models.EmailField(unique=True)
    is_active = models.BooleanField(default=True)

    objects = Accounts()
    USERNAME_FIELD = "email"
