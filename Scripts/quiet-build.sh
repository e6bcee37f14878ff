#!/usr/bin/env bash
# Reads the output of `swift build` and shows what matters of it: one status line on a terminal, errors in full.
set -euo pipefail

if [ -t 1 ]; then
    awk '
        /error:|warning:/ { printf "\r\033[K%s\n", $0; details = 1; next }
        /^\[[0-9]+\/[0-9]+\]/ { printf "\r\033[K%.79s", $0; fflush(); details = 0; next }
        details { print }
        END { printf "\r\033[K" }'
else
    awk '
        /error:|warning:/ { print; details = 1; next }
        /^\[[0-9]+\/[0-9]+\]|^Build/ { details = 0; next }
        details { print }'
fi
