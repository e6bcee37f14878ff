#!/usr/bin/env bash
# Builds and runs every test and prints how many ran. Arguments go to `swift test` (for example --filter Wire).
#
# RIVULET_SOAK=1 runs the long forms of the simulations and crash tests.
set -euo pipefail
cd "$(dirname "$0")/.."

log=$(mktemp)
trap 'rm -f "$log"' EXIT

echo "Building the programs and the tests …"
swift build --explicit-target-dependency-import-check error --build-tests 2>&1 | Scripts/quiet-build.sh

echo "Running the tests …"
status=0
# One at a time: libedit keeps terminal state for the whole process, and two editors side by side can wait for ever.
swift test --skip-build --disable-xctest --no-parallel "$@" >"$log" 2>&1 || status=$?

# Swift Testing prints three lines a test; a person wants the failures and the count.
if [ "$status" -ne 0 ]; then
    grep -vE '^. (Test|Suite) .*(started|passed)|^◇|^✔' "$log" || true
fi
summary=$(grep -E 'Test run with [0-9]+ tests?' "$log" | tail -n 1 || true)
count=$(sed -nE 's/.*Test run with ([0-9]+) tests?.*/\1/p' <<<"$summary")
if [ -z "$count" ] || [ "$count" -eq 0 ]; then
    tail -n 40 "$log"
    echo "No test ran." >&2
    exit 1
fi
echo "$summary"
[ "$status" -eq 0 ] || exit "$status"

if [ $# -eq 0 ]; then
    echo "Building the consumer package against the public interface …"
    swift build --package-path Tests/Consumer 2>&1 | Scripts/quiet-build.sh
    swift run --package-path Tests/Consumer --skip-build consumer
fi
