# shellcheck shell=bash
# Sourced by tests/run.sh: stops tests that hang. No limit depends on how fast or how loaded the machine is.

idle_limit=900  # Seconds without any work in one test case: a deadlock. A loaded machine still gives every process a share.
work_limit=3600 # Seconds of CPU time in one test case: a loop without an end.

# cpu_seconds GROUP: the CPU time of the process group's living processes and of their children that have ended.
cpu_seconds() {
  cat /proc/[0-9]*/stat 2>/dev/null | sed 's/^.*) //' |
    awk -v group="$1" -v ticks="$(getconf CLK_TCK)" '$3 == group { sum += $12 + $13 + $14 + $15 }
      END { printf "%d\n", sum / ticks }'
}

# stop_when_hanging GROUP PROGRESS: kills the process group when the file PROGRESS, in which each test case writes its name,
# stays the same for too long, and notes why in PROGRESS.stopped.
stop_when_hanging() {
  local group=$1 progress=$2 test='' now_test work start_work=0 last_work=0 last_change=$SECONDS why
  while sleep 5; do
    now_test=$(cat -- "$progress" 2>/dev/null) || true
    work=$(cpu_seconds "$group")
    # A process that ended with its work uncounted makes the sum smaller: that is a change too.
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

# watched PROGRESS COMMAND…: runs COMMAND, with CRISOL_TEST_PROGRESS set to PROGRESS, until it ends or hangs.
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
