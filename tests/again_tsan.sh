#!/bin/sh
# again_tsan.sh COMMAND...: runs a program with ThreadSanitizer, again if its runtime failed: that of gcc 12 sometimes
# computes a wrong size for its own memory when two threads make large allocations at once ("failed to allocate ... bytes
# at address", 7 of 120 runs of one test). At most five runs; findings are never repeated.
log=$(mktemp) || exit 1
trap 'rm -f "$log"' EXIT
for run in 1 2 3 4 5; do
  "$@" >"$log" 2>&1
  status=$?
  cat "$log"
  if [ "$status" = 0 ] || ! grep -q '==ERROR: ThreadSanitizer failed to allocate' "$log"; then exit "$status"; fi
  echo "run $run: the runtime of ThreadSanitizer failed"
done
exit "$status"
