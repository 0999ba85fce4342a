"""``python -m linkwork``: the program `linkwork` of this package, with the same arguments."""
import importlib.metadata
import os
import subprocess
import sys


def program() -> str:
    """Path of the program that was installed with this package."""
    for file in importlib.metadata.files("linkwork") or []:
        if file.name in ("linkwork", "linkwork.exe") and "bin" in file.parent.parts[-1:]:
            path = str(file.locate())
            if os.access(path, os.X_OK):
                return path
    sys.exit("python -m linkwork: this installation has no program; install the package again")


if __name__ == "__main__":
    if os.name == "posix":
        os.execv(program(), ["linkwork", *sys.argv[1:]])
    sys.exit(subprocess.run([program(), *sys.argv[1:]], check=False).returncode)
