# shellcheck shell=bash
# Sourced by tests/run.sh: stops tests that hang. The limits do not depend on the machine's speed or load.

idle_limit=900  # Seconds without work in one test case: a deadlock. Even a loaded machine gives every process a share.
work_limit=3600 # Seconds of CPU time in one test case: an endless loop.

# cpu_seconds GROUP: the CPU time of the process group's living processes, and of their children that have ended.
cpu_seconds() {
  cat /proc/[0-9]*/stat 2>/dev/null | sed 's/^.*) //' |
    awk -v group="$1" -v ticks="$(getconf CLK_TCK)" '$3 == group { sum += $12 + $13 + $14 + $15 }
      END { printf "%d\n", sum / ticks }'
}

# stop_when_hanging GROUP PROGRESS: kills the process group when it hangs, and notes the reason in PROGRESS.stopped.
# Each test case writes its name to the file PROGRESS. A group hangs when this file does not change for too long.
stop_when_hanging() {
  local group=$1 progress=$2 test='' now_test work start_work=0 last_work=0 last_change=$SECONDS why
  while sleep 5; do
    now_test=$(cat -- "$progress" 2>/dev/null) || true
    work=$(cpu_seconds "$group")
    # A process that ended without counting its work makes the sum smaller. This counts as a change too.
    if [ "$now_test" != "$test" ] || [ "$work" -lt "$start_work" ]; then start_work=$work; fi
    if [ "$now_test" != "$test" ] || [ "$work" -ne "$last_work" ]; then last_change=$SECONDS; fi
    test=$now_test last_work=$work why=
    if [ $((SECONDS - last_change)) -ge $idle_limit ]; then why="idle for $idle_limit s"; fi
    if [ $((work - start_work)) -ge $work_limit ]; then why="at work for $work_limit s of CPU time"; fi
    [ -n "$why" ] || continue
    printf '%s in "%s"\n' "$why" "$test" >"$progress.stopped"
    kill -KILL -- "-$group"
    return
  done
}

# watched PROGRESS COMMAND…: runs COMMAND with CRISOL_TEST_PROGRESS=PROGRESS until it ends or hangs.
watched() {
  local progress=$1 process watcher status=0
  shift
  rm -f -- "$progress" "$progress.stopped"
  CRISOL_TEST_PROGRESS=$progress setsid "$@" &
  process=$!
  stop_when_hanging "$process" "$progress" </dev/null >/dev/null 2>&1 &
  watcher=$!
  wait "$process" || status=$?
  kill "$watcher" 2>/dev/null || true
  wait "$watcher" 2>/dev/null || true
  return $status
}
