"""`python -m microzo_host.cli`: the command `microzo` where it is not installed."""

from . import main

main()
