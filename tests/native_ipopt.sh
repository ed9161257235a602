#!/bin/sh
# Make the native Ipopt route (cyipopt) work in the environment whose bin folder is $1, or say in one sentence why not.
set -u
bin=$1
"$bin/python" -P -c 'import cyipopt' 2>/dev/null && exit 0

debian="coinor-libipopt-dev liblapack-dev libblas-dev pkg-config"
as_root=""
[ "$(id -u)" = 0 ] || as_root="sudo -n"

if ! pkg-config --exists ipopt 2>/dev/null; then
    if command -v apt-get >/dev/null && $as_root true 2>/dev/null; then
        echo "installing the Ipopt library: apt-get install $debian"
        { $as_root apt-get update -q && $as_root env DEBIAN_FRONTEND=noninteractive apt-get install -q -y $debian; } >/dev/null 2>&1
    elif command -v brew >/dev/null; then
        echo "installing the Ipopt library: brew install ipopt pkg-config"
        brew install ipopt pkg-config >/dev/null 2>&1
    fi
fi
if pkg-config --exists ipopt 2>/dev/null && "$bin/pip" install -q "cyipopt>=1.5" 2>/dev/null; then
    exit 0
fi
echo "cyipopt could not be built (it needs a C compiler and the Ipopt library), so the tests of cvxpy:ipopt will be skipped"
