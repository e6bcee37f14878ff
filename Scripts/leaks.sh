#!/usr/bin/env bash
# Opens and closes 50 flows under valgrind and under the address sanitizer; fails when anything of ours leaks.
#
#   Scripts/leaks.sh             both
#   Scripts/leaks.sh valgrind    one of them; the other is `sanitizer`
#
# GTK, Pango and fontconfig keep things for as long as a process lives and free them never. What of that looks like a
# leak stands with its reason in Tests/RivuletUITests/valgrind.supp and leaks.supp; everything else counts.
set -euo pipefail
cd "$(dirname "$0")/.."

tests=Tests/RivuletUITests
scratch=$(mktemp -d)
trap 'rm -rf "$scratch"' EXIT

# A display of its own; the software renderer, since drivers of graphics cards leak, too.
shown() {
    xvfb-run -a -s "-screen 0 1000x800x24 -nolisten tcp" \
        env GDK_BACKEND=x11 GSK_RENDERER=cairo GDK_DEBUG=gl-disable GTK_A11Y=none G_SLICE=always-malloc SWIFT_BACKTRACE=enable=no "$@"
}

# A check that cannot fail says nothing: an object lost on purpose must be found.
must_find() {
    local name=$1
    shift
    if shown "$@" leak >"$scratch/lost" 2>&1 || ! grep -qa '^lost one on purpose' "$scratch/lost"; then
        tail -n 20 "$scratch/lost" >&2
        echo "leaks: $name does not find what is lost on purpose" >&2
        exit 1
    fi
}

judge() {
    local name=$1 status=$2 log=$3
    grep -a '^left\|^warnings' "$log" || true
    if [ "$status" -ne 0 ] || ! grep -qa '^left 0 views, 0 flows of 50' "$log"; then
        tail -n 60 "$log" >&2
        echo "leaks: $name found something that stays; see above" >&2
        exit 1
    fi
    echo "leaks: nothing of ours leaks under $name"
}

under_valgrind() {
    if ! command -v valgrind >/dev/null; then
        echo "leaks: valgrind is missing; Scripts/deps.sh --soak installs it" >&2
        exit 1
    fi
    swift build --product rivulet-ui-probe 2>&1 | Scripts/quiet-build.sh
    local status=0
    local check=(
        valgrind --leak-check=full --show-leak-kinds=definite --errors-for-leak-kinds=definite
        --undef-value-errors=no --error-exitcode=9 --num-callers=30 --suppressions="$tests/valgrind.supp"
        "$(swift build --show-bin-path)/rivulet-ui-probe"
    )
    must_find valgrind "${check[@]}"
    shown "${check[@]}" reopen 0 >"$scratch/log" 2>&1 || status=$?
    judge valgrind "$status" "$scratch/log"
}

under_sanitizer() {
    swift build --scratch-path "$scratch/build" --sanitize=address -Xswiftc -use-ld=lld \
        --product rivulet-ui-probe 2>&1 | Scripts/quiet-build.sh
    local status=0
    # The quick way through the stack ends where a library has no frame pointers, before the name to be suppressed.
    local check=(
        env ASAN_OPTIONS=detect_leaks=1:fast_unwind_on_malloc=0 LSAN_OPTIONS="suppressions=$tests/leaks.supp:print_suppressions=0"
        "$scratch/build/debug/rivulet-ui-probe"
    )
    must_find "the address sanitizer" "${check[@]}"
    shown "${check[@]}" reopen 0 >"$scratch/log" 2>&1 || status=$?
    judge "the address sanitizer" "$status" "$scratch/log"
}

case ${1:-both} in
    valgrind) under_valgrind ;;
    sanitizer) under_sanitizer ;;
    both)
        under_valgrind
        under_sanitizer
        ;;
    *)
        echo "Usage: Scripts/leaks.sh [valgrind|sanitizer]" >&2
        exit 2
        ;;
esac
