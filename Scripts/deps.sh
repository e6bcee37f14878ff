#!/usr/bin/env bash
# Installs the Debian packages that Rivulet builds and runs with. Does nothing when all are there.
#
#   Scripts/deps.sh            what building, testing and running need
#   Scripts/deps.sh --soak     what `make soak` needs besides
#   Scripts/deps.sh --check    only tell what is missing; exit status 1 if anything is
#
# It needs to be root, or sudo; it says what it is about to install before it does.
set -euo pipefail

packages=(
    libuv1-dev      # event loop, sockets, DNS
    libsqlite3-dev  # the client's store and the server's log
    libedit-dev     # line editing in `rivulet chat`
    libgtk-4-dev    # the window of `rivulet-chat`
    libgtk-4-bin    # gtk4-broadwayd, which shows the window in a browser where there is no display
    libgtk-4-media-gstreamer gstreamer1.0-plugins-base gstreamer1.0-plugins-good # voice messages are played with them
    fonts-cantarell fonts-noto-cjk fonts-noto-color-emoji # what a desktop has and a bare server does not
    xvfb xauth dbus-x11 at-spi2-core # a display and a session of the tests' own
    python3-gi gir1.2-atspi-2.0 # tests look at the window as assistive technology does
    xdotool imagemagick # keys and screenshots in these tests
    libmicrohttpd-dev # HTTP interface of the server
    libssl-dev      # TLS, digests
    openssl         # the tests make certificates with it
    pkg-config      # tells SwiftPM where the libraries are
)

if [ "${1:-}" = --soak ]; then
    packages+=(valgrind) # finds what the window leaks
fi

missing=()
for package in "${packages[@]}"; do
    state=$(dpkg-query -W -f='${db:Status-Status}' "$package" 2>/dev/null || true)
    [ "$state" = installed ] || missing+=("$package")
done

if [ "${1:-}" = --check ]; then
    [ ${#missing[@]} -eq 0 ] && exit 0
    echo "Missing Debian packages: ${missing[*]}"
    exit 1
fi

if ! command -v swift >/dev/null 2>&1; then
    echo "Rivulet needs Swift 6.3 and found no 'swift' on PATH. Install it from https://www.swift.org/install/" >&2
    exit 1
fi
[ ${#missing[@]} -eq 0 ] && exit 0

if ! command -v apt-get >/dev/null 2>&1; then
    echo "This system has no apt-get. Install the equivalents of: ${missing[*]}" >&2
    exit 1
fi

as_root=()
if [ "$(id -u)" -ne 0 ]; then
    if ! command -v sudo >/dev/null 2>&1; then
        echo "These Debian packages are missing: ${missing[*]}" >&2
        echo "Installing them takes root, and there is no sudo here. As root, run:" >&2
        echo "    apt-get install ${missing[*]}" >&2
        exit 1
    fi
    as_root=(sudo)
fi

echo "Installing Debian packages: ${missing[*]}"
export DEBIAN_FRONTEND=noninteractive
log=$(mktemp)
trap 'rm -f "$log"' EXIT
if ! { "${as_root[@]}" apt-get update -q && "${as_root[@]}" apt-get install -y -q --no-install-recommends "${missing[@]}"; } >"$log" 2>&1; then
    tail -n 20 "$log" >&2
    echo "apt-get failed; its last lines stand above." >&2
    exit 1
fi
