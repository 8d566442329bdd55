"""`python -m evenhand` is the command line."""

from evenhand.cli import main

main()
