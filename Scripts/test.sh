#!/usr/bin/env bash
# Builds and runs every test and prints how many ran. Arguments go to `swift test` (for example --filter Wire).
#
# RIVULET_SOAK=1 runs the long forms of the simulations and crash tests. RIVULET_TEST_LIMIT=90m ends a target that
# hangs after that time (10 minutes unless set) and names the tests that did not end.
set -euo pipefail
cd "$(dirname "$0")/.."

limit=${RIVULET_TEST_LIMIT:-10m}
logs=$(mktemp -d)
touch "$logs/counts"
trap 'rm -rf "$logs"; [ -z "$(jobs -p)" ] || kill $(jobs -p) 2>/dev/null || true' EXIT
trap 'exit 130' INT TERM

echo "Building the programs and the tests …"
swift build --explicit-target-dependency-import-check error --build-tests 2>&1 | Scripts/quiet-build.sh

# The test program itself, which `swift test` would take two seconds to find out about, for each target anew. Where
# the bundle is no program, as on macOS, `swift test` it is.
program=$(swift build --show-bin-path)/RivuletPackageTests.xctest
if [ -f "$program" ]; then
    runner=("$program" --testing-library swift-testing)
else
    runner=(swift test --skip-build --disable-xctest)
fi
export NO_COLOR=1

# One process for each test target: all of them together in one starve the tests that talk over sockets, whose
# deadlines are real, and the one that runs out of file descriptors takes them from everybody.
run() {
    local log=$1 status=0 summary count
    shift
    timeout --kill-after=30 "$limit" "${runner[@]}" "$@" >"$log" 2>&1 || status=$?
    # Swift Testing prints three lines a test; a person wants the failures and the count.
    if [ "$status" -ne 0 ]; then
        grep -avE '^. (Test|Suite) .*(started|passed)|^◇|^✔' "$log" || true
    fi
    if [ "$status" -eq 124 ] || [ "$status" -eq 137 ]; then
        echo "The tests did not end within $limit. Still running:" >&2
        comm -23 <(sed -nE 's/^◇ Test (".*"|[^ ]+\(.*\)) started\.$/\1/p' "$log" | sort -u) \
            <(sed -nE 's/^[^◇]+ Test (".*"|[^ ]+\(.*\)) .*after .*/\1/p' "$log" | sort -u) | head -n 40 >&2
        return "$status"
    fi
    summary=$(grep -aE 'Test run with [0-9]+ tests?' "$log" | tail -n 1 || true)
    count=$(sed -nE 's/.*Test run with ([0-9]+) tests?.*/\1/p' <<<"$summary")
    if [ -z "$count" ] || [ "$count" -eq 0 ]; then
        tail -n 40 "$log"
        echo "No test ran: $*" >&2
        return 1
    fi
    echo "$summary"
    [ "$status" -ne 0 ] || echo "$count" >>"$logs/counts"
    return "$status"
}

if [ $# -gt 0 ]; then
    echo "Running the tests …"
    run "$logs/log" "$@"
    exit
fi

# Runs targets one after the other and prints what came of each when it is known.
lane() {
    local target text
    for target in "$@"; do
        if text=$(run "$logs/$target" --filter "^$target\\." 2>&1); then
            echo "$target: $text"
            continue
        fi
        echo "$target: $text"
        # A second try, one test at a time: a fault of the code stays, a race for a busy machine is told as one.
        if text=$(run "$logs/$target" --filter "^$target\\." --no-parallel 2>&1); then
            echo "$target, alone: $text"
            echo "$target" >>"$logs/shaky"
        else
            echo "$target, alone: $text"
            echo "$target" >>"$logs/failed"
        fi
    done
}

# These wait for the disk and for clocks most of their time, so they run beside the others.
patient=(HTTPKitTests RivuletStoreTests)
others=()
for folder in Tests/*Tests; do
    target=$(basename "$folder")
    case " ${patient[*]} " in *" $target "*) ;; *) others+=("$target") ;; esac
done
echo "Running the tests of $((${#patient[@]} + ${#others[@]})) targets …"
lane "${patient[@]}" &
beside=$!
lane "${others[@]}"
wait "$beside"
echo "$(awk '{ sum += $1 } END { print sum + 0 }' "$logs/counts") tests ran."
[ ! -s "$logs/shaky" ] || echo "Passed at the second try alone, so look at these:" $(cat "$logs/shaky") >&2
if [ -s "$logs/failed" ]; then
    echo "Failed:" $(cat "$logs/failed") >&2
    exit 1
fi

if [ $# -eq 0 ]; then
    echo "Building the consumer package against the public interface …"
    swift build --package-path Tests/Consumer 2>&1 | Scripts/quiet-build.sh
    swift run --package-path Tests/Consumer --skip-build consumer
fi
