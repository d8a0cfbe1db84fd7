#!/bin/bash
# Runs a graph over files on machines that HTCondor finds; this one has the scheduler.
#
#   WORKERS=64 CPUS=4 examples/cluster/htcondor.sh --out FOLDER GRAPH FILE...
#
# The words after the script are those of `python3 -m sluice.distributed`. FOLDER is one that all machines share, and so
# is the current one. Workers come and go as HTCondor has machines; one that is evicted loses the task at hand, which
# another runs again. The same command goes on with a run that ended early.
set -euo pipefail

here=$(cd "$(dirname "$0")" && pwd)
cpus=${CPUS:-4}
scheduler_file=$PWD/sluice-$$.json
cluster=
finish() {
  [[ -z $cluster ]] || condor_rm "$cluster" >/dev/null
  kill "$scheduler" 2>/dev/null || true
  wait
  rm -f "$scheduler_file"
}
trap finish EXIT

dask scheduler --scheduler-file "$scheduler_file" --port 0 --dashboard-address :0 &
scheduler=$!
# "3 job(s) submitted to cluster 4711."
cluster=$(condor_submit scheduler_file="$scheduler_file" cpus="$cpus" workers="${WORKERS:-8}" "$here/htcondor.sub" |
  sed -n 's/.*submitted to cluster \([0-9]*\).*/\1/p')

python3 -m sluice.distributed --scheduler-file "$scheduler_file" --slots "$cpus" --source-threads "$cpus" "$@"
