#!/bin/sh
# Fuzzes what reads bytes of strangers: Scripts/fuzz.sh [SECONDS [TARGET]]
#
# TARGET is WireFuzz (the decoder of packets) or ContentFuzz (the JSON of messages); without it both run, each for 60
# seconds or as long as asked. Builds Fuzz/ with libFuzzer and makes a seed corpus of what the tests know.
# A failing input is written to Fuzz/.build/failures-TARGET; give it to the binary as its argument to see it fail again.
set -eu

seconds=${1:-60}
case $seconds in
    '' | *[!0-9]*)
        echo "usage: Scripts/fuzz.sh [SECONDS [WireFuzz|ContentFuzz]]" >&2
        exit 2
        ;;
esac
targets=${2:-WireFuzz ContentFuzz}

root=$(cd "$(dirname "$0")/.." && pwd)
cd "$root/Fuzz"

# Every frame of the vectors becomes four seeds: both roles, both profiles, cut into pieces of 5 bytes.
seed_WireFuzz() {
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
            }' "$1"
}

# Every JSON object that stands as a raw string in the tests of the contents.
seed_ContentFuzz() {
    cat "$root"/Tests/RivuletModelTests/*.swift |
        perl -ne '
            BEGIN { $dir = shift @ARGV; $n = 0 }
            while (/#"(\{.*?\})"#/g) {
                open(my $file, ">:raw", sprintf("%s/content-%04d", $dir, $n++)) or die $!;
                print $file $1;
                close($file);
            }' "$1"
}

for target in $targets; do
    corpus=.build/corpus-$target
    failures=.build/failures-$target
    mkdir -p "$corpus" "$failures"
    "seed_$target" "$corpus"
    swift build -c release --sanitize fuzzer --product "$target"
    # Swift prints its own backtrace on a trap and hides libFuzzer's report.
    SWIFT_BACKTRACE=enable=no ".build/release/$target" -max_total_time="$seconds" -max_len=4096 \
        -artifact_prefix="$failures/" -print_final_stats=1 "$corpus"
done
