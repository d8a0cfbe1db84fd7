# lib.sh: functions of scripts/demo, scripts/test and scripts/check: Debian packages, builds, times. Sourced by bash scripts
# that have set -euo pipefail. Each function may be called again; finished work is not repeated.

root=$(cd "$(dirname "${BASH_SOURCE[0]}")/.." && pwd)
SLUICE_DATA=$(realpath -m "${SLUICE_DATA:-$root/../shared/data}")
export SLUICE_DATA LC_ALL=C
jobs=$(nproc)
tells_progress=no # yes: builds print their progress

build_packages=(gcc cmake ninja-build pkg-config libc6-dev libyaml-dev libxxhash-dev zlib1g-dev liblzma-dev liblz4-dev
                libzstd-dev libhdf5-dev libzmq3-dev libmicrohttpd-dev libdw-dev help2man)
test_packages=(lintian dpkg-dev file libcmocka-dev g++ clang clang-format clang-tidy libclang-rt-14-dev python3 python3-jsonschema
               python3-numpy python3-yaml python3-h5py python3-pandas python3-xxhash python3-matplotlib graphviz zsh
               python3-pytest python3-pip python3-venv python3-setuptools python3-wheel mypy python3-nbclient python3-ipykernel
               python3-dask python3-distributed python3-selenium chromium chromium-driver qemu-user locales
               hipcc libamdhip64-dev rocm-device-libs)
# The preset arm64 needs these. libhdf5-dev is not among them: it cannot be installed for two architectures at a time.
arm64_packages=(qemu-user gcc-aarch64-linux-gnu libc6-dev:arm64 libyaml-dev:arm64 libxxhash-dev:arm64 zlib1g-dev:arm64
                liblzma-dev:arm64 liblz4-dev:arm64 libzstd-dev:arm64 libcmocka-dev:arm64)

die() {
  echo "error: $*" >&2
  exit 1
}

# own_temporary_folder: sets TMPDIR for all programs of this script and removes it at the end, because killed programs, and
# clang for each HIP source, do not remove their temporary files.
own_temporary_folder() {
  TMPDIR=$(mktemp -d)
  export TMPDIR
  chmod 711 "$TMPDIR" # tests that give up their rights go on in it
  trap 'rm -rf "$TMPDIR"' EXIT
}

# is_installed NAME[:ARCHITECTURE]: default: the architecture of this machine. A package can be installed for several.
is_installed() {
  local architecture=${1#*:}
  [[ $1 == *:* ]] || architecture=$(dpkg --print-architecture)
  dpkg-query -W -f '${db:Status-Status} ${Architecture}\n' "${1%:*}" 2>/dev/null | grep -qxE "installed (all|$architecture)"
}

# need_packages NAME...: installs missing Debian packages with apt-get, and removes none.
need_packages() {
  local missing=() name as_root=()
  command -v dpkg-query >/dev/null || die "this script installs Debian packages, and dpkg is not here; install: $*"
  for name in "$@"; do
    is_installed "$name" || missing+=("$name")
  done
  ((${#missing[@]})) || return 0
  if ((EUID != 0)); then
    command -v sudo >/dev/null || die "packages are missing, and there is neither root nor sudo to install them;" \
      "as root: apt-get install ${missing[*]}"
    as_root=(sudo)
  fi
  echo "== installing ${missing[*]}"
  as_root+=(env DEBIAN_FRONTEND=noninteractive)
  if [[ " ${missing[*]}" == *:arm64* ]]; then
    "${as_root[@]}" dpkg --add-architecture arm64
  fi
  "${as_root[@]}" apt-get -qq update
  "${as_root[@]}" apt-get -qq install --yes --no-install-recommends --no-remove "${missing[@]}" >/dev/null
}

# progress: reads ninja's lines and prints the progress: on a terminal in one line that changes, else ten lines in all.
progress() {
  local line at steps tenth last=0
  while read -r line; do
    [[ $tells_progress == yes && $line =~ ^\[([0-9]+)/([0-9]+)\]\ (.*) ]] || continue
    at=${BASH_REMATCH[1]} steps=${BASH_REMATCH[2]} tenth=$((10 * at / steps))
    if [[ -t 1 ]]; then
      printf '\r\033[K   step %s of %s: %.50s' "$at" "$steps" "${BASH_REMATCH[3]}"
    elif ((tenth > last)); then
      echo "   step $at of $steps"
    fi
    last=$tenth
  done
  [[ $tells_progress == no || ! -t 1 ]] || printf '\r\033[K'
}

# build PRESET [CMAKE_OPTION...]: configures build/PRESET if there are options or it is new, then builds all targets, or
# build_targets. Prints errors, and the progress if tells_progress is yes.
build_targets=()
build() {
  local preset=$1 folder=$root/build/$1 log=$root/build/$1.log
  shift
  mkdir -p "$root/build"
  [[ $tells_progress == no ]] || echo "== building $folder: the first build takes minutes; the log is $log"
  if [[ ! -f $folder/build.ninja || $# -gt 0 ]] && ! (cd "$root" && cmake --preset "$preset" "$@") >"$log" 2>&1; then
    rm -f "$folder/build.ninja"
    cat "$log" >&2
    return 1
  fi
  if ! cmake --build "$folder" ${build_targets[@]+--target "${build_targets[@]}"} 2>&1 | tee "$log" | progress; then
    tail -n 60 "$log" >&2
    return 1
  fi
}

# timed NAME COMMAND...: runs the command, prints its time, and returns its status.
stage_times=()
timed() {
  local name=$1 start=$EPOCHREALTIME status=0 verdict=ok line
  shift
  "$@" || status=$?
  ((status == 0)) || verdict=FAILED
  line=$(awk -v name="$name" -v verdict="$verdict" -v start="$start" -v now="$EPOCHREALTIME" \
    'BEGIN { printf "%-24s %7.1f s  %s", name, now - start, verdict }')
  stage_times+=("$line")
  echo "== $line"
  return "$status"
}
