#!/bin/sh
# slurm.sh -- a study as an array of jobs of Slurm: `sbatch slurm.sh`, in a folder that all machines see.
#
# Each task makes its share of the parts; the first one that comes begins the study.  A task that was killed is submitted again,
# `sbatch --array=3 slurm.sh`, or any process makes all that is missing: `linkwork sweep --resume study`.
#SBATCH --array=1-4
#SBATCH --cpus-per-task=1
#SBATCH --signal=B:TERM@30
#SBATCH --output=share-%a.log
set -eu
shares=4 # as many as the array had when the study began, also when one of them is submitted again
exec linkwork sweep "${MODEL:-four_bar.yaml}" --vary gravity.y=-9.81:-1:200 --duration 0.5 --watch sys.T \
    --store study --part-rows 10 --threads "$SLURM_CPUS_PER_TASK" --part "$SLURM_ARRAY_TASK_ID/$shares"
