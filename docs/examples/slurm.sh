#!/bin/sh
# Runs suites as a SLURM array, a GPU for each part, and judges them when all parts are done.
#
#   sh slurm.sh eval_suites /shared/run-1 8
#
# Parts that fail are named by the last job's log; run this again, and only they are computed.
set -eu
suites=$1 folder=$2 parts=$3

maxrandom shards "$suites" --into "$parts" --out "$folder"
array=$(sbatch --parsable --array="1-$parts" --gpus=1 --requeue --output="$folder/%a.log" \
  --wrap "maxrandom run-shard '$folder' \$SLURM_ARRAY_TASK_ID")
sbatch --dependency="afterany:$array" --output="$folder/join.log" \
  --wrap "maxrandom join '$folder' -- --maxrandom-report '$folder/report.md' --maxrandom-json '$folder/report.json'"
