#!/usr/bin/env python3
"""tools/install-deps asks for the version of SUNDIALS, not only for its headers.

usage: test_install_deps.py TOOL
"""
import os
import subprocess
import sys
import tempfile


def missing(tool, major):
    """What is said to be missing where SUNDIALS of this major version comes first."""
    with tempfile.TemporaryDirectory() as folder:
        for name, text in (("sundials/sundials_config.h", f"#define SUNDIALS_VERSION_MAJOR {major}\n"),
                           ("arkode/arkode_erkstep.h", "")):
            os.makedirs(os.path.dirname(os.path.join(folder, name)))
            with open(os.path.join(folder, name), "w", encoding="utf-8") as file:
                file.write(text)
        return subprocess.run([tool, "--no-install"], env={**os.environ, "CPATH": folder},
                              capture_output=True, text=True, check=False).stderr


def main():
    assert "SUNDIALS 6" in missing(sys.argv[1], 5)
    assert "SUNDIALS" not in missing(sys.argv[1], 6)
    return 0


if __name__ == "__main__":
    sys.exit(main())
