#!/usr/bin/env bash
# Builds the reference documentation of every public module into .build/docs, with every warning an error.
#
#   Scripts/docs.sh [MODULE …]
set -euo pipefail
cd "$(dirname "$0")/.."

modules=("$@")
[ ${#modules[@]} -gt 0 ] || modules=(
    RivuletWire RivuletModel RivuletFlow RivuletClientCore RivuletClient RivuletStore RivuletEngine RivuletHTTPEngine
    RivuletServerCore RivuletServer RivuletUI
)

swift package dump-symbol-graph --minimum-access-level public --skip-synthesized-members 2>&1 | Scripts/quiet-build.sh
graphs=$(find .build -type d -name symbolgraph | head -n 1)
[ -n "$graphs" ] || { echo "docs: swift wrote no symbol graphs" >&2; exit 1; }

mkdir -p .build/docs
for module in "${modules[@]}"; do
    work=$(mktemp -d)
    cp "$graphs/$module.symbols.json" "$work/"
    find "$graphs" -name "$module@*.symbols.json" -exec cp {} "$work/" \;
    catalogue="Sources/$module/$module.docc"
    arguments=()
    [ -d "$catalogue" ] && arguments+=("$catalogue")
    docc convert "${arguments[@]}" --additional-symbol-graph-dir "$work" --fallback-display-name "$module" \
        --fallback-bundle-identifier "rivulet.$module" --output-path ".build/docs/$module" --warnings-as-errors
    rm -rf "$work"
    echo "docs: $module → .build/docs/$module"
done
