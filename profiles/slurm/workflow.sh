#!/bin/bash
# The workflow in small jobs, one after the other: each runs Snakemake until its time is over.
# `grokatlas submit` submits the first; arguments are Snakemake's. docs/cluster.md has the rest.
#SBATCH --job-name=grokatlas-workflow --output=.snakemake/slurm_logs/workflow.log
#SBATCH --nodes=1 --ntasks=1 --cpus-per-task=1 --mem=4000 --open-mode=append --no-requeue
#SBATCH --signal=B:USR1@60
over="" after="$GROKATLAS_AFTER" here="$(pwd -P)" state=.snakemake/grokatlas_workflow
trap over=1 USR1 # the time of this job is nearly over
say() { echo "$(date '+%F %T') job $SLURM_JOB_ID: $*"; }
pause() { [ "$over" ] || { sleep "$1" & wait $!; }; } # the signal ends it
queued() { squeue --me --noheader --format='|%Z|%j|%k|%i' "$@"; } # folder, name, comment, number
next() { queued --states=PENDING | grep -F "|$here|$SLURM_JOB_NAME|" | sed 's/.*|//'; }
follows() { [ "$(next)" ] && echo "job $(next) follows" || echo "no job follows"; }
hand_over() { say "$1; $(follows)"; exit; }
stop() { next | xargs -r scancel; say "$2; no job follows"; exit "$1"; }

ending() { scontrol show job "$1" || sacct --allocations --noheader --format=State --jobs="$1"; }
if [ "$after" ] && ending "$after" 2>/dev/null | grep -qE '(^|JobState=) *CANCELLED'; then
    say "job $after was cancelled; no job follows"
    exit
fi

# The next job waits in the queue first of all, so that it follows however this one ends.
for try in 0 20 40 60 60 60; do
    pause "$try"
    [ "$(next)" ] && break # Slurm may have taken it and answered too late
    GROKATLAS_AFTER="$SLURM_JOB_ID" sbatch --dependency="afterany:$SLURM_JOB_ID" \
        --time="$(squeue --noheader --jobs="$SLURM_JOB_ID" --format=%l)" \
        --partition="$SLURM_JOB_PARTITION" ${SLURM_JOB_ACCOUNT:+--account="$SLURM_JOB_ACCOUNT"} \
        ${SLURM_JOB_QOS:+--qos="$SLURM_JOB_QOS"} "$0" "$@"
done
[ "$(next)" ] || stop 1 "the next job could not be submitted"

# The job before may live on, on a node that Slurm lost: its Snakemake holds this file.
exec 9>"$state.lock" && { flock 9 & wait $!; }
none_left() { jobs="$(queued)" && ! grep -F "|$here|" <<<"$jobs" | grep -qE "[|](rule|group)_"; }
until [ "$over" ] || none_left; do pause 10; done
[ "$over" ] && hand_over "it waited for jobs that were submitted before"
[ -e "$state.locked" ] && rm -rf .snakemake/locks # a Snakemake that was killed here left them

[ "$after" ] || rm -f "$state.starts"
seen="$(find -L results -name '*manifest.json' -print -o \
    -path '*/.state/state.json' -printf '%p %T@\n' | sort | cksum)"
[ "$(tail -n 3 "$state.starts" 2>/dev/null | grep -cxF "$seen")" = 3 ] &&
    stop 1 "Snakemake was started 3 times, and nothing was made or saved since"
echo "$seen" >>"$state.starts" && touch "$state.locked" || stop 1 "the disk cannot be written"

set -m # Snakemake and what it starts are a group
trap 'kill -KILL "-${snakemake:-$!}"; exit 143' TERM # cancelled: Slurm may not know all of them
python -m snakemake --profile profiles/slurm --local-cores 1 "$@" & snakemake=$!
wait "$snakemake"; code=$?
if [ "$over" ]; then # it submits nothing more, and figures that are drawn here have 20 s
    kill -TERM "$snakemake"
    { sleep 20; kill -KILL "-$snakemake"; } 2>/dev/null &
    wait "$snakemake"; code=$?
fi
[ "$code" -lt 128 ] && rm -f "$state.locked"
[ "$over" ] && hand_over "its time is nearly over, and the jobs of Snakemake run on"
[ "$code" -ge 128 ] && hand_over "Snakemake was ended by signal $((code - 128))"
[ "$code" = 0 ] && stop 0 "all is made"
stop 1 "Snakemake failed (exit code $code): mend what it says above, then submit again"
