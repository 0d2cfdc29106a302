#!/bin/sh
# Makes the repository that the workflow starts from, in the folder that the policy names: a test of two modules to come.
set -eu
mkdir -p "$1"
cd "$1"
git init --quiet --initial-branch main
cat >test_both.py <<'END'
from left import double
from right import half


def test_both_modules_are_there():
    assert half(double(21)) == 21
END
git add test_both.py
git -c user.name=example -c user.email=example@worker.invalid commit --quiet --message "A test of what is to come"
