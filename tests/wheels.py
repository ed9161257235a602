"""Building the wheel of a source tree."""

import subprocess
import sys


def built_wheel(source, folder):
    """The file of the wheel, built in `folder` without a network."""
    command = [sys.executable, "-m", "pip", "wheel", "-q", "--no-deps", "--no-build-isolation", "-w", str(folder), str(source)]
    subprocess.run(command, check=True, capture_output=True)
    (built,) = folder.glob("*.whl")
    return built
