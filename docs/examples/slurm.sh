#!/bin/sh
# Runs suites as a SLURM array, with a GPU for each part, and judges them when all parts are done.
#
#   sh slurm.sh eval_suites /shared/run-1 8
#
# The last job's log names the parts that failed. Run this script again to compute only those.
set -eu
suites=$1 folder=$2 parts=$3

maxrandom shards "$suites" --into "$parts" --out "$folder"
array=$(sbatch --parsable --array="1-$parts" --gpus=1 --requeue --output="$folder/%a.log" \
  --wrap "maxrandom run-shard '$folder' \$SLURM_ARRAY_TASK_ID")
sbatch --dependency="afterany:$array" --output="$folder/join.log" \
  --wrap "maxrandom join '$folder' -- --maxrandom-report '$folder/report.md' --maxrandom-json '$folder/report.json'"
