"""``python -m dynamis`` is the command line."""

from dynamis.cli import main

if __name__ == "__main__":
    main()
