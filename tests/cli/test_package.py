#!/usr/bin/env python3
"""The .deb of this build says what it needs, and what is in it works where it is unpacked.

usage: test_package.py CMAKE BUILD SOURCES C_COMPILER [SANITIZERS]
Skipped (77) where there is no dpkg, and with sanitizers, which are not packaged.
"""
import glob
import os
import shutil
import sys
import tempfile

from test_install import call, said, try_library, try_pages, try_program


def main():
    cmake, build, sources, compiler = sys.argv[1:5]
    cpack = os.path.join(os.path.dirname(cmake), "cpack")
    if sys.argv[5:6] not in ([], [""]) or not os.path.exists(cpack) or not all(
            shutil.which(tool) for tool in ("dpkg-deb", "dpkg-shlibdeps")):
        print("skipped: needs cpack, dpkg-deb, dpkg-shlibdeps and no sanitizers")
        return 77
    with tempfile.TemporaryDirectory() as folder:
        call(cpack, "--config", os.path.join(build, "CPackConfig.cmake"), "-G", "DEB", "-B", folder)
        package, = glob.glob(os.path.join(folder, "linkwork_*.deb"))
        depends = said("dpkg-deb", "-f", package, "Depends")
        print(depends)
        for library in ("libc6", "libsundials", "libyaml", "libexpat", "libhdf5"):
            assert library in depends, "the package does not depend on " + library
        assert "liblinkwork" not in depends

        root = os.path.join(folder, "root")
        call("dpkg-deb", "-x", package, root)
        prefix = os.path.join(root, "usr")
        library = os.path.dirname(glob.glob(prefix + "/lib/**/liblinkwork.so", recursive=True)[0])
        assert os.path.exists(os.path.join(prefix, "share/doc/linkwork/copyright"))
        env = {**os.environ, "LD_LIBRARY_PATH": library}
        program = try_program(prefix, folder, env)
        try_pages(prefix, program, env)
        try_library(prefix, folder, sources, cmake, compiler, "")
    return 0


if __name__ == "__main__":
    sys.exit(main())
