"""Addresses of the authentication API."""

from django.urls import path

from accounts import views

urlpatterns = [
    path("login", views.sign_in),
    path("logout", views.sign_out),
    path("whoami", views.whoami),
]
