#!/usr/bin/env bash
# run.sh BUILD: installs BUILD into a new folder, moves it (an installation must not depend on its path), and uses it
# like an external project: the command, a plugin with its test by find_package, a program by pkg-config. Then makes a
# Debian package, which must have the same files, and installs and removes it in a separate root.
set -euo pipefail

source=$(cd "$(dirname "${BASH_SOURCE[0]}")/../.." && pwd)
build=$(cd "$1" && pwd)
: "${SLUICE_DATA:=$source/../shared/data}"
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
unset SLUICE_PLUGIN_PATH SLUICE_GRAPH_PATH LD_LIBRARY_PATH

fail() {
  echo "packaging: $*" >&2
  exit 1
}

# expect TEXT COMMAND...: the command succeeds and its output has TEXT.
expect() {
  local text=$1 output
  shift
  output=$("$@" 2>&1) || fail "failed: $*"$'\n'"$output"
  grep -qF -- "$text" <<<"$output" || fail "no '$text' in the output of: $*"$'\n'"$output"
}

cmake --install "$build" --prefix "$work/made-here" >"$work/install.log" || fail "$(cat "$work/install.log")"
prefix="$work/used here" # with a space
mv "$work/made-here" "$prefix"
sluice="$prefix/bin/sluice"

echo "the installed command"
expect "sluice 0." "$sluice" --version
expect "velo.search_by_triplet" "$sluice" list velo
expect "$prefix/lib" "$sluice" list

echo "graphs by name, examples and pages"
expect "graph        $prefix/share/sluice/graphs/velo.yaml" env -C "$work" "$sluice" run velo.yaml -n 2
expect "$prefix/share/sluice/graphs" "$sluice" list --graphs
pages=$prefix/share/doc/sluice
expect "VELO tracks" "$sluice" list --graphs
expect "outputs:" "$sluice" check "$pages/examples/velo_csv.yaml"
expect "outputs:" "$sluice" check "$pages/examples/selected_events.yaml"
python3 "$source/tests/docs/check.py" --links "$pages" || fail "links of installed pages"

echo "man pages and shell completion"
for command in "" $("$sluice" --help | sed -n 's/^  sluice \([a-z]*\) .*/-\1/p'); do
  page=$prefix/share/man/man1/sluice$command.1
  grep -q SLUICE_GRAPH_PATH "$page" && grep -q '^\.SH SYNOPSIS' "$page" || fail "no man page $page; was help2man there when it was built?"
done
completion=$prefix/share/bash-completion/completions/sluice
completed=$(bash -c 'source "$1"; COMP_WORDS=(sluice descr) COMP_CWORD=1; _sluice; echo "${COMPREPLY[@]}"' bash "$completion")
[[ $completed == describe ]] || fail "bash completes descr to '$completed'"
grep -q '^#compdef sluice' "$prefix/share/zsh/site-functions/_sluice" || fail "no completion for zsh"

echo "public headers compile alone, as C11 and C++17"
export PKG_CONFIG_PATH="$prefix/lib/pkgconfig"
eval "cflags=($(pkg-config --cflags sluice))" # quoted for a shell, because of the space
eval "libs=($(pkg-config --libs sluice))"
for header in "$prefix"/include/sluice/*.h "$prefix"/include/sluice-plugins/*/*.h; do
  name=${header#"$prefix"/include/}
  name=${name#sluice-plugins/}
  case $name in
    sluice/kernel_*.h) continue ;; # included by kernel.h
  esac
  printf '#include <%s>\nint main(void) { return 0; }\n' "$name" >"$work/header.c" # members.h has macros only
  cp "$work/header.c" "$work/header.cpp"
  flags=("${cflags[@]}" -Wall -Wextra -Werror -fsyntax-only -D SL_TARGET_CPU=1)
  gcc -std=c11 -pedantic -Wno-unused-function "${flags[@]}" "$work/header.c" || fail "$name as C11"
  case $name in
    sluice/kernel.h | sluice/lanes.h | sluice/fft.h) continue ;; # C for this target, CUDA C++ for others
  esac
  ! grep -qE '^#include <sluice/(kernel|lanes|fft)\.h>' "$header" || continue
  g++ -std=c++17 "${flags[@]}" "$work/header.cpp" || fail "$name as C++17"
done

echo "a plugin outside the repository"
cp -r "$source/examples/out-of-tree" "$work/plugin"
cmake -G Ninja -S "$work/plugin" -B "$work/plugin/build" -D CMAKE_PREFIX_PATH="$prefix" -D CMAKE_C_FLAGS=-Werror \
  >"$work/plugin.log" 2>&1 || fail "$(cat "$work/plugin.log")"
cmake --build "$work/plugin/build" >"$work/plugin.log" 2>&1 || fail "$(cat "$work/plugin.log")"
expect "100% tests passed" ctest --test-dir "$work/plugin/build" --output-on-failure
expect "near_beam" "$sluice" describe radius.hit_radius --plugin-path "$work/plugin/build/plugins"
expect "2 ok, 0 wrong, 0 not run" "$sluice" test radius.hit_radius --plugin-path "$work/plugin/build/plugins" \
  --graph "$work/plugin/hit_radius.yaml" --device cpu --strict
"$sluice" schema --plugin-path "$work/plugin/build/plugins" >"$work/schema.json"
python3 - "$source/tests/cli" "$work/schema.json" "$work/plugin/hit_radius.yaml" <<'PYTHON' || fail "the schema refuses the example"
import json, sys
sys.path.insert(0, sys.argv[1])
import core_yaml, jsonschema
jsonschema.Draft7Validator(json.load(open(sys.argv[2]))).validate(core_yaml.load(open(sys.argv[3])))
PYTHON
symbols=$(nm -D --defined-only "$work/plugin/build/plugins/radius.cpu.so" | awk '{ print $3 }')
[[ $symbols == sluice_plugin ]] || fail "the plugin exports more than sluice_plugin: $symbols"

echo "a source, a constant and a sink outside the repository"
cp -r "$source/examples/dice" "$work/dice"
cmake -G Ninja -S "$work/dice" -B "$work/dice/build" -D CMAKE_PREFIX_PATH="$prefix" -D CMAKE_C_FLAGS=-Werror \
  >"$work/dice.log" 2>&1 || fail "$(cat "$work/dice.log")"
cmake --build "$work/dice/build" >"$work/dice.log" 2>&1 || fail "$(cat "$work/dice.log")"
expect "100% tests passed" ctest --test-dir "$work/dice/build" --output-on-failure
expect "5000 dice, chi2 " "$sluice" run "$work/dice/dice.yaml" --plugin-path "$work/dice/build/plugins" --slots 2

echo "a search for radio bursts outside the repository"
cp -r "$source/examples/bursts" "$work/bursts"
cmake -G Ninja -S "$work/bursts" -B "$work/bursts/build" -D CMAKE_PREFIX_PATH="$prefix" -D CMAKE_C_FLAGS=-Werror \
  -D CMAKE_CUDA_COMPILER= >"$work/bursts.log" 2>&1 || fail "$(cat "$work/bursts.log")"
cmake --build "$work/bursts/build" >"$work/bursts.log" 2>&1 || fail "$(cat "$work/bursts.log")"
expect "100% tests passed" ctest --test-dir "$work/bursts/build" --output-on-failure

echo "a selection line outside the repository"
mkdir "$work/line"
cp -r "$source/examples" "$source/graphs" "$work/line"
line=$work/line/examples/line
cmake -G Ninja -S "$line" -B "$line/build" -D CMAKE_PREFIX_PATH="$prefix" -D CMAKE_C_FLAGS=-Werror >"$work/line.log" 2>&1 ||
  fail "$(cat "$work/line.log")"
cmake --build "$line/build" >"$work/line.log" 2>&1 || fail "$(cat "$work/line.log")"
expect "100% tests passed" ctest --test-dir "$line/build" --output-on-failure
expect "2 ok, 0 wrong, 0 not run" "$sluice" test far.far_track --plugin-path "$line/build/plugins" \
  --graph "$line/far_track.yaml" --device cpu --strict

echo "plugins from sluice new, as docs/plugins.md describes them"
CMAKE_PREFIX_PATH="$prefix" python3 "$source/tests/docs/check.py" "$sluice" --installed || fail "docs of an installation"

echo "every example of sluice new in one plugin, and removed again"
new() { (cd "$work" && "$sluice" new "$@") >"$work/new.log" 2>&1 || fail "sluice new $*: $(cat "$work/new.log")"; }
new plugin every --hits
cp -r "$work/every" "$work/first"
new sink every.tally
new algorithm every.bursts --plain
new algorithm every.far_hits --hits
new sink every.hit_tally --hits
new source every.more
new constant every.bins
cmake -G Ninja -S "$work/every" -B "$work/every_build" -D CMAKE_PREFIX_PATH="$prefix" -D CMAKE_C_FLAGS="-Wall -Wextra -Werror" \
  >"$work/every.log" 2>&1 || fail "$(cat "$work/every.log")"
cmake --build "$work/every_build" >"$work/every.log" 2>&1 || fail "$(cat "$work/every.log")"
expect "100% tests passed, 0 tests failed out of 19" ctest --test-dir "$work/every_build" --output-on-failure
for graph in tally hit_tally; do
  expect "counts: " "$sluice" run "$work/every/$graph.yaml" --plugin-path "$work/every_build/plugins" -n 10
done
for name in bins more hit_tally far_hits bursts tally pulses numbers; do new remove "every.$name"; done
diff -r "$work/first" "$work/every" >"$work/every.log" || fail "the plugin is not as it was: $(cat "$work/every.log")"
cmake --build "$work/every_build" >"$work/every.log" 2>&1 || fail "$(cat "$work/every.log")"
expect "100% tests passed, 0 tests failed out of 3" ctest --test-dir "$work/every_build" --output-on-failure

echo "an embedding program"
gcc -std=c11 -D_POSIX_C_SOURCE=200809L -Wall -Wextra -Werror "${cflags[@]}" "$source/examples/embed/embed.c" \
  -o "$work/embed" "${libs[@]}" || fail "embed.c"

echo "a Debian package"
make_package() {
  local root="$work/root" listed=("$work"/{installed,packed}.list)
  (cd "$build" && cpack -B "$work/package") >"$work/cpack.log" 2>&1 || fail "$(cat "$work/cpack.log")"
  package=$(echo "$work"/package/sluice_*.deb)
  {
    (cd "$prefix" && find . ! -type d | sed 's|^\(./share/man/.*\)|\1.gz|')
    printf './share/%s\n' doc/sluice/copyright doc/sluice/changelog.gz lintian/overrides/sluice
  } | sort >"${listed[0]}"
  dpkg-deb --fsys-tarfile "$package" | tar -t | sed -n 's|^./usr/|./|p' | grep -v '/$' | sort >"${listed[1]}"
  diff "${listed[@]}" >"$work/difference" || fail "the package has other files: $(cat "$work/difference")"
  ! command -v dpkg-shlibdeps >/dev/null || ! command -v file >/dev/null ||
    grep -q 'libyaml-0-2.*zlib1g' <<<"$(dpkg-deb -f "$package" Depends)" || fail "the package does not say what it needs"
  if command -v lintian >/dev/null; then
    lintian --allow-root --fail-on error,warning "$package" >"$work/lintian.log" 2>&1 || fail "lintian: $(cat "$work/lintian.log")"
  else
    echo "skipped: no lintian to look at the package; the rest goes on"
  fi
  ((EUID == 0)) || return 0 # dpkg installs only as root
  mkdir -p "$root/var/lib/dpkg/updates" "$root/var/lib/dpkg/info" "$work/stubs"
  touch "$root/var/lib/dpkg/status"
  # Scripts of the package call ldconfig, which must not change the cache of this machine.
  printf '#!/bin/sh\n' >"$work/stubs/ldconfig" && chmod +x "$work/stubs/ldconfig"
  dpkg_there() {
    PATH="$work/stubs:$PATH" dpkg --root="$root" --force-script-chrootless --force-depends "$@" >"$work/dpkg.log" 2>&1 ||
      fail "$(cat "$work/dpkg.log")"
  }
  dpkg_there --install "$package"
  expect "sluice 0." "$root/usr/bin/sluice" --version
  expect "velo_pv.yaml" "$root/usr/bin/sluice" list --graphs
  readelf -SW "$root/usr/lib/sluice/plugins/velo.race.so" | grep -q '\.debug_line' || fail "plugins for --race are stripped"
  dpkg_there --purge sluice
  [[ ! -e $root/usr ]] || fail "files remain after removing the package: $(find "$root/usr" | head)"
}
make_package
from_image=$(sed -n '/^RUN apt-get update.*\\$/,/[^\\]$/p;/^COPY/q' "$source/Dockerfile" | tr -s ' \\\n' ' ')
for name in $(bash -c 'source "$1"; echo "${build_packages[@]}"' bash "$source/scripts/lib.sh"); do
  [[ " $from_image " == *" $name "* ]] || fail "the Dockerfile does not install $name, which scripts/lib.sh has"
done

echo "a program that feeds events from its memory"
"$sluice" run "$prefix/share/sluice/graphs/copy.yaml" -n 20 -o "$work/events.mdf" --quiet || fail "copy.yaml"
cmake -G Ninja -S "$source/examples/feed" -B "$work/feed" -D CMAKE_PREFIX_PATH="$prefix" \
  -D CMAKE_C_FLAGS="-Wall -Wextra -Wshadow -Werror" >"$work/feed.log" 2>&1 || fail "$(cat "$work/feed.log")"
cmake --build "$work/feed" >"$work/feed.log" 2>&1 || fail "$(cat "$work/feed.log")"
expect "20 events, 20 of them sound" "$work/feed/feed" "$prefix/share/sluice/graphs/velo.yaml" "$work/events.mdf"

echo "with sample events"
sample=$SLUICE_DATA/lhcb/minbias.mdf
if [[ ! -f $sample ]]; then
  echo "skipped: no lhcb/minbias.mdf in SLUICE_DATA=$SLUICE_DATA; the rest passed"
  exit 0
fi
geometry=geometry=$SLUICE_DATA/lhcb/geometry
graph=$work/plugin/hit_radius.yaml
"$sluice" run "$graph" --plugin-path "$work/plugin/build/plugins" -i "$sample" --set "$geometry" --json "$work/run.json" \
  --digest >"$work/run.log" 2>&1 || fail "$(cat "$work/run.log")"
python3 - "$work/run.json" <<'PYTHON' || fail "the run's figures are wrong: $(cat "$work/run.json")"
import json, sys
run = json.load(open(sys.argv[1]))
outputs = {output["port"]: output for output in run["outputs"]}
assert run["events"] > 0 and run["error_events"] == 0, run["events"]
assert outputs["radii"]["items"] > 100 * run["events"], outputs
PYTHON
digests=()
for device in cpu simt; do
  "$sluice" run "$graph" --plugin-path "$work/plugin/build/plugins" -i "$sample" --set "$geometry" --device "$device" -n 2 \
    --digest >"$work/run.log" 2>&1 || fail "$device: $(cat "$work/run.log")"
  digests+=("$(grep -o 'digest .*' "$work/run.log")")
done
[[ ${digests[0]} == "${digests[1]}" ]] || fail "cpu gives ${digests[0]}, simt ${digests[1]}"
expect " radii" "$work/embed" -p "$work/plugin/build/plugins" -i "$sample" -s "$geometry" "$graph"
"$sluice" run "$prefix/share/sluice/graphs/velo.yaml" -i "$sample" --set "$geometry" >"$work/run.log" 2>&1 ||
  fail "the installed velo.yaml: $(cat "$work/run.log")"
