"""`python -m remit.cli`: how a foreground starts its children with the interpreter that it runs on itself."""

from remit.cli import main

main()
