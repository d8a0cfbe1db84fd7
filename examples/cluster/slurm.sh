#!/bin/bash
# Runs a graph over files on the nodes of a Slurm job, with a worker in each of its tasks.
#
#   sbatch --ntasks=64 --cpus-per-task=4 --time=2:00:00 examples/cluster/slurm.sh --out FOLDER GRAPH FILE...
#
# The words after the script are those of `python3 -m sluice.distributed`. FOLDER is one that all nodes share; a job
# that ended early is submitted again as it was, and goes on. On GPUs: sbatch --gpus-per-task=1, and --device cuda.
# SLUICE_LIBRARY and PYTHONPATH, where they are needed, are taken from where sbatch is called.
#SBATCH --job-name=sluice
#SBATCH --output=sluice-%j.log
set -euo pipefail

place=${SLUICE_CLUSTER_FOLDER:-$SLURM_SUBMIT_DIR} # shared, too
scheduler_file=$place/sluice-$SLURM_JOB_ID.json
export DASK_LOGGING__DISTRIBUTED=${DASK_LOGGING__DISTRIBUTED:-warning}
pids=()
trap 'kill "${pids[@]}" 2>/dev/null || true; wait; rm -f "$scheduler_file"' EXIT

dask scheduler --scheduler-file "$scheduler_file" --port 0 --dashboard-address :0 &
pids+=($!)
# A worker that dies is started again by its nanny; one that is killed with it does not end the others.
srun --kill-on-bad-exit=0 --wait=0 dask worker --scheduler-file "$scheduler_file" --nworkers 1 --nthreads 1 \
  --memory-limit 0 --no-dashboard --death-timeout 300 --local-directory "${TMPDIR:-/tmp}" &
pids+=($!)

python3 -m sluice.distributed --scheduler-file "$scheduler_file" --slots "${SLURM_CPUS_PER_TASK:-1}" \
  --source-threads "${SLURM_CPUS_PER_TASK:-1}" "$@"
