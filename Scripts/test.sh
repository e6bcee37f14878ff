#!/usr/bin/env bash
# Builds and runs every test and prints how many ran. Arguments go to `swift test` (for example --filter Wire).
#
# RIVULET_SOAK=1 runs the long forms of the simulations and crash tests. RIVULET_TEST_LIMIT=90m ends a run that hangs
# after that time (20 minutes unless set) and names the tests that did not end.
set -euo pipefail
cd "$(dirname "$0")/.."

limit=${RIVULET_TEST_LIMIT:-20m}
log=$(mktemp)
trap 'rm -f "$log"' EXIT

echo "Building the programs and the tests …"
swift build --explicit-target-dependency-import-check error --build-tests 2>&1 | Scripts/quiet-build.sh

echo "Running the tests …"
status=0
timeout --kill-after=30 "$limit" swift test --skip-build --disable-xctest "$@" >"$log" 2>&1 || status=$?

# Swift Testing prints three lines a test; a person wants the failures and the count.
if [ "$status" -ne 0 ]; then
    grep -avE '^. (Test|Suite) .*(started|passed)|^◇|^✔' "$log" || true
fi
if [ "$status" -eq 124 ] || [ "$status" -eq 137 ]; then
    echo "The tests did not end within $limit. Still running:" >&2
    comm -23 <(sed -nE 's/^◇ Test (".*"|[^ ]+\(.*\)) started\.$/\1/p' "$log" | sort -u) \
        <(sed -nE 's/^[^◇]+ Test (".*"|[^ ]+\(.*\)) .*after .*/\1/p' "$log" | sort -u) | head -n 40 >&2
    exit "$status"
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
