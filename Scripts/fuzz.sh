#!/bin/sh
# Fuzzes the wire decoder: Scripts/fuzz.sh [SECONDS]
#
# Builds Fuzz/ with libFuzzer, makes a seed corpus of the test vectors, and runs for 60 seconds or as long as asked.
# A failing input is written to Fuzz/.build/corpus-failures; give it to the binary as its argument to see it fail again.
set -eu

seconds=${1:-60}
case $seconds in
    '' | *[!0-9]*)
        echo "usage: Scripts/fuzz.sh [SECONDS]" >&2
        exit 2
        ;;
esac

root=$(cd "$(dirname "$0")/.." && pwd)
cd "$root/Fuzz"
corpus=.build/corpus
failures=.build/corpus-failures
mkdir -p "$corpus" "$failures"

# Every frame of the vectors becomes four seeds: both roles, both profiles, cut into pieces of 5 bytes.
cat "$root"/Tests/RivuletWireTests/Vectors/*.json "$root"/Tests/RivuletWireTests/Vectors/captures.jsonl |
    perl -ne '
        BEGIN { $dir = shift @ARGV; $n = 0 }
        while (/"hex": *"((?:[0-9a-f]{2}){1,4000})"/g) {
            for my $way (0 .. 3) {
                open(my $file, ">:raw", sprintf("%s/vector-%04d-%d", $dir, $n, $way)) or die $!;
                print $file chr(0x10 | $way), chr(5), pack("H*", $1);
                close($file);
            }
            $n++;
        }' "$corpus"

swift build -c release --sanitize fuzzer --product WireFuzz

# Swift prints its own backtrace on a trap and hides libFuzzer's report.
SWIFT_BACKTRACE=enable=no exec .build/release/WireFuzz -max_total_time="$seconds" -max_len=4096 \
    -artifact_prefix="$failures/" -print_final_stats=1 "$corpus"
