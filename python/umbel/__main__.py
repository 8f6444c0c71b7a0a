"""The umbel command: the same program as the one that cargo builds."""

import sys

from umbel._umbel import main as run


def main() -> None:
    sys.exit(run(["umbel", *sys.argv[1:]]))


if __name__ == "__main__":
    main()
