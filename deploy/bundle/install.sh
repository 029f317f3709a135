#!/bin/sh
# Install Befund from this folder, without any network:
#   ./install.sh [FOLDER]            into FOLDER, /opt/befund unless said otherwise; again for an update
#   ./install.sh --vllm [FOLDER]     on the GPU host: the language model's environment, of a bundle made with WITH_VLLM=1
#   PYTHON=/usr/bin/python3.11       which Python
# FOLDER/.venv is a link to the environment of this version; the one before stays beside it until you remove it.
set -eu
umask 022

no() {
    echo "befund: $1" >&2
    exit 1
}

cd "$(dirname "$0")"
list=requirements.txt wheels=wheels link=.venv
if [ "${1:-}" = --vllm ]; then
    list=requirements-vllm.txt wheels=wheels-vllm link=.venv-vllm
    shift
    [ -f "$list" ] || no "this bundle has no wheels of vLLM; make one with: make bundle WITH_VLLM=1"
fi
folder=${1:-/opt/befund}

# --- what this machine has to be ----------------------------------------------------------------
[ "$(uname -s)-$(uname -m)" = Linux-x86_64 ] || no "this is $(uname -s) $(uname -m); the wheels are for Linux x86_64"
for program in sha256sum getconf cp ln; do
    command -v "$program" >/dev/null || no "the program $program is missing; it belongs to coreutils or libc-bin"
done
[ -f SHA256SUMS ] && [ -f bundle.env ] || no "SHA256SUMS or bundle.env is missing here; copy the whole bundle again"
sha256sum --check --quiet --strict SHA256SUMS ||
    no "a file is missing or not the one it was when the bundle was made (named above); copy the bundle again"
. ./bundle.env

PYTHON=${PYTHON:-$(command -v "python$NEEDS_PYTHON" || command -v python3 || true)}
[ -n "$PYTHON" ] || no "no Python is here; install Python $NEEDS_PYTHON, or name it: PYTHON=/path/to/python ./install.sh"
found=$("$PYTHON" -c 'import sys; print("%d.%d" % sys.version_info[:2])') || no "$PYTHON does not run"
[ "$found" = "$NEEDS_PYTHON" ] ||
    no "$PYTHON is Python $found and the wheels are for $NEEDS_PYTHON; name it: PYTHON=/path/to/python ./install.sh"
"$PYTHON" -c 'import venv, zipimport' 2>/dev/null ||
    no "$PYTHON cannot make environments; on Debian and Ubuntu install python$NEEDS_PYTHON-venv"
glibc=$(getconf GNU_LIBC_VERSION 2>/dev/null) || no "this system has no GNU C library; the wheels need $NEEDS_GLIBC"
"$PYTHON" -c 'import sys; sys.exit(*[[int(n) for n in sys.argv[1].split()[1].split(".")] < [int(n) for n in sys.argv[2].split(".")]])' \
    "$glibc" "$NEEDS_GLIBC" || no "this system has $glibc; the wheels need $NEEDS_GLIBC or newer"
mkdir -p "$folder" 2>/dev/null && [ -w "$folder" ] || no "$folder cannot be written; run as root or name another folder"
folder=$(cd "$folder" && pwd)

# --- the environment, beside the one in use -----------------------------------------------------
sum=$(sha256sum "$list")
environment=$folder/env-$VERSION-$(echo "$sum" | cut -c1-12)
if [ ! -f "$environment/.whole" ]; then
    rm -rf "$environment"
    "$PYTHON" -m venv --without-pip "$environment" || no "$PYTHON -m venv failed (see above)"
    # pip runs from its own wheel, of which the checksum is known by now; no setting of pip on this machine counts
    # (--isolated). Each file is named with its hash and looked for here only.
    PYTHONPATH=$(echo wheels/pip-*.whl) "$environment/bin/python" -m pip --isolated --disable-pip-version-check --quiet \
        --no-input install --no-index --find-links "$wheels" --no-deps --require-hashes --only-binary :all: \
        --no-cache-dir --no-compile --root-user-action ignore -r "$list" ||
        no "pip could not install the wheels (see above); nothing that was installed before has changed"
    # On all cores, which pip does not; without what no server loads. A file in a wheel that is no Python of this
    # version is no fault.
    "$environment/bin/python" -m compileall -q -j 0 -x '/(tests?|pip)/' "$environment/lib" >/dev/null || true
    : >"$environment/.whole"
fi
"$environment/bin/python" -c 'import clinical' || no "what was installed does not start (see above)"

# --- what goes with it --------------------------------------------------------------------------
for part in docs deploy bentos; do
    [ -d "$part" ] || continue
    rm -rf "${folder:?}/$part.new"
    cp -R "$part" "$folder/$part.new"
    rm -rf "${folder:?}/$part"
    mv "$folder/$part.new" "$folder/$part"
done
kept=
if [ -d catalog ]; then
    if [ -e "$folder/catalog" ]; then
        kept=" (the one that was there before)"
    else
        rm -rf "$folder/catalog.new"
        cp -R catalog "$folder/catalog.new"
        mv "$folder/catalog.new" "$folder/catalog"
    fi
fi
rm -f "$folder/$link.new"
ln -s "$(basename "$environment")" "$folder/$link.new"
mv -T "$folder/$link.new" "$folder/$link"

echo "Befund $VERSION is installed in $folder: environment $link, documentation docs/index.html."
[ "$link" = .venv ] || exit 0
echo "Catalog: $folder/catalog$kept; name it to the servers: BEFUND_CATALOG=$folder/catalog"
echo "Services: deploy/systemd; what comes next, step by step, stands in docs/production.html."
