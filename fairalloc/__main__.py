"""`python -m fairalloc`: the command line."""

import sys

from fairalloc.cli import main

if __name__ == "__main__":
    sys.exit(main())
