#!/usr/bin/env bash
# Runs the demonstration: a window on the display, or, where there is none, the same window in a browser.
#
# Without a display it starts GTK's Broadway server on 127.0.0.1, prints the address, and runs until Ctrl-C.
# RIVULET_DEMO_PORT sets its port (8086 unless set). When the input is no terminal there is nobody to look at a
# window: the demonstration then chats over input and output, as `rivulet demo` does.
set -euo pipefail
cd "$(dirname "$0")/.."
bin=$(swift build --show-bin-path)

# The demonstration's files go with it, also when the display dies under the window and takes the program along.
folder=$(mktemp -d "${TMPDIR:-/tmp}/rivulet-demo.XXXXXX")
chat= broadway=
finish() {
    local program
    # The window first, while its display is there; it must be gone before its folder.
    for program in $chat $broadway; do
        kill "$program" 2>/dev/null || true
        wait "$program" 2>/dev/null || true
    done
    rm -rf "$folder"
}
trap finish EXIT
trap 'exit 130' INT
trap 'exit 143' TERM

# Runs in the background, so that a signal to this script is heard at once.
show() {
    local status=0
    env TMPDIR="$folder" "$@" &
    chat=$!
    wait "$chat" || status=$?
    chat=
    return "$status"
}

if [ -n "${DISPLAY:-}${WAYLAND_DISPLAY:-}" ]; then
    show "$bin/rivulet-chat" --demo "$@"
    exit
fi
if [ ! -t 0 ]; then
    rm -rf "$folder"
    exec "$bin/rivulet" demo
fi

port=${RIVULET_DEMO_PORT:-8086}
display=$((port - 8080))
[ "$display" -ge 0 ] || display=6
answers() { (exec 3<>"/dev/tcp/127.0.0.1/$port") 2>/dev/null; }
if answers; then
    echo "demo: port $port is in use; set RIVULET_DEMO_PORT to another one" >&2
    exit 1
fi
gtk4-broadwayd --address 127.0.0.1 --port "$port" ":$display" >/dev/null 2>&1 &
broadway=$!
serves=
for _ in $(seq 100); do
    kill -0 "$broadway" 2>/dev/null || break
    if answers; then
        serves=yes
        break
    fi
    sleep 0.1
done
if [ -z "$serves" ]; then
    echo "demo: the browser's window cannot be served on port $port; set RIVULET_DEMO_PORT to another one" >&2
    exit 1
fi
echo "There is no display here. Open http://127.0.0.1:$port/ in a browser; Ctrl-C ends the demonstration."
echo "(From another machine: ssh -L $port:127.0.0.1:$port THIS-MACHINE. In the terminal: $bin/rivulet demo)"
show GDK_BACKEND=broadway BROADWAY_DISPLAY=":$display" "$bin/rivulet-chat" --demo "$@"
