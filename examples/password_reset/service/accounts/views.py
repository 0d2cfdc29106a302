"""The authentication API: sign in, sign out, and who is signed in."""

from django.contrib.auth import authenticate, login, logout
from django.http import HttpRequest, HttpResponse, JsonResponse
from django.views.decorators.csrf import ensure_csrf_cookie
from django.views.decorators.http import require_GET, require_POST

from accounts.bodies import read_fields


@require_POST
def sign_in(request: HttpRequest) -> HttpResponse:
    fields = read_fields(request)
    email, password = fields.get("email"), fields.get("password")
    if not isinstance(email, str) or not isinstance(password, str):
        return JsonResponse({"error": "bad_request"}, status=400)
    account = authenticate(request, username=email.lower(), password=password)
    if account is None:
        return JsonResponse({"error": "invalid_credentials"}, status=401)
    login(request, account)
    return JsonResponse({"email": account.email})


@require_POST
def sign_out(request: HttpRequest) -> HttpResponse:
    logout(request)
    return HttpResponse(status=204)


@require_GET
@ensure_csrf_cookie
def whoami(request: HttpRequest) -> HttpResponse:
    account = request.user
    return JsonResponse({"email": account.email if account.is_authenticated else None})
