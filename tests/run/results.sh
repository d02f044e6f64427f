# shellcheck shell=bash
# Sourced by tests/run.sh: runs the tests of a row in a process of its own, and takes its counts, notes and times.

# take_processor_time: sets processor_time to the seconds of processors that this shell and its ended processes used.
take_processor_time() {
  local file=$work/times.$BASHPID
  times >"$file"
  processor_time=$(tr ms '  ' <"$file" | awk '{ sum += 60 * ($1 + $3) + $2 + $4 } END { printf "%d", sum }')
  rm -- "$file"
}

stage_start=$SECONDS stage_processor_time=0
end_stage() {
  take_processor_time
  say "[time] $1: $((SECONDS - stage_start)) s, $((processor_time - stage_processor_time)) s of processors"
  stage_start=$SECONDS stage_processor_time=$processor_time
}

declare -A passed=() failed=() skipped=() note=() seconds=() used=()
declare -A test_program=() # Used instead of build/bin/crisol_tests.

# take_counts NAME STATUS START SUMMARY: the counts, the note and the time of a program that began at START and ended with
# STATUS. Its log ends with the line "SUMMARY: N passed, N failed, N skipped". What it refuses counts as skipped.
take_counts() {
  local name=$1 status=$2 line
  line=$(grep -aE "^$4: [0-9]+ passed, [0-9]+ failed, [0-9]+ (skipped|refused)\$" -- "$work/$name.log" | tail -n 1) || true
  read -r "passed[$name]" "failed[$name]" "skipped[$name]" < <(tr -dc '0-9 \n' <<<"${line:-0 0 0}")
  if [ -e "$work/$name.progress.stopped" ]; then
    note[$name]="stopped: $(cat -- "$work/$name.progress.stopped")"
  elif [ "$status" -gt 1 ] || { [ "$status" -ne 0 ] && [ "${failed[$name]}" -eq 0 ]; }; then
    note[$name]="ended with exit code $status"
  elif [ -z "$line" ]; then
    note[$name]="no summary"
  fi
  [ -z "${note[$name]:-}" ] || [ "${failed[$name]}" -gt 0 ] || failed[$name]=1
  seconds[$name]=$((SECONDS - $3))
}

# run_tests NAME: runs the tests on one implementation. Removes the user's variables for crisol, and for OpenCL too
# unless NAME is a GPU.
run_tests() {
  local name=$1 log=$work/$1.log status=0 clean place enter=() its_variables its_filter start=$SECONDS
  mapfile -t clean < <(foreign_variables)
  if [ -n "${gpu_number[$name]:-}" ]; then
    place=("CRISOL_DEVICE=gpu:${gpu_number[$name]}")
  else
    place=(-u OCL_ICD_FILENAMES "OCL_ICD_VENDORS=$work/icd/$name")
  fi
  [ -z "${debian13_icd[$name]:-}" ] || enter=("${debian13_enter[@]}")
  mapfile -t its_variables < <(grep . <<<"${variables[$name]:-}") # One per line.
  mapfile -t its_filter < <(grep . <<<"${filter[$name]:-}")
  # A run of PoCL or a GPU takes all short tests of the ops, and so does a run of Intel's runtime that is not plain. These
  # tests must run every variant that the device could take.
  if [[ "$name" == pocl || "$name$plain" == intel || -n "${gpu_number[$name]:-}" ]] && [ -z "${doctest_arguments[*]}" ]; then
    its_variables+=(CRISOL_TEST_ALL_VARIANTS=1)
  fi
  watched "$work/$name.progress" "${enter[@]}" env "${clean[@]}" "${place[@]}" "CRISOL_CACHE_DIR=$(cache_of "$name")" \
    "CRISOL_TEST_EXPECT_PLATFORM=${platform[$name]}" "${its_variables[@]}" \
    "${test_program[$name]:-$crisol_build/bin/crisol_tests}" "${its_filter[@]}" \
    "${doctest_arguments[@]}" </dev/null >"$log" 2>&1 || status=$?
  take_counts "$name" "$status" "$start" crisol_tests
}

# run_selftest NAME PROGRAM ARGUMENT…: runs the command's own test of all or some ops. The counts are ops.
run_selftest() {
  local name=$1 log=$work/$1.log clean its_variables good=0 all=1 start=$SECONDS
  mapfile -t clean < <(foreign_variables)
  mapfile -t its_variables < <(grep . <<<"${variables[$name]:-}")
  watched "$work/$name.progress" env "${clean[@]}" -u OCL_ICD_FILENAMES "OCL_ICD_VENDORS=$work/icd/$name" \
    "CRISOL_CACHE_DIR=$(cache_of "$name")" "CRISOL_DEVICE=${platform[$name]}" "${its_variables[@]}" \
    "$2" selftest "${@:3}" </dev/null >"$log" 2>&1 || note[$name]="crisol selftest failed"
  read -r good all < <(sed -nE 's/^(passed|FAILED): ([0-9]+) of ([0-9]+) ops.*/\2 \3/p' -- "$log") || true
  : "${good:=0}" "${all:=1}"
  passed[$name]=$good failed[$name]=$((all - good)) skipped[$name]=0
  [ -z "${note[$name]:-}" ] || [ "${failed[$name]}" -gt 0 ] || failed[$name]=1
  seconds[$name]=$((SECONDS - start))
}

# Oclgrind reports invalid accesses and races and continues, so any report is a failure. Its log is a pipe, so that
# processes started by the tests write to the same place.
run_oclgrind() {
  local reports=$work/oclgrind.reports pipe=$work/oclgrind.pipe reader count
  rm -f -- "$pipe"
  mkfifo -- "$pipe"
  cat -- "$pipe" >"$reports" &
  reader=$!
  exec {pipe_fd}>"$pipe" # Keeps the reader running between writers.
  OCLGRIND_LOG=$pipe run_tests oclgrind
  exec {pipe_fd}>&-
  wait "$reader"
  count=$(grep -acE '^[^[:space:]]' -- "$reports") || true
  [ "$count" -gt 0 ] || return 0
  head -n 60 -- "$reports"
  note[oclgrind]="${note[oclgrind]:+${note[oclgrind]}, }$count reports of oclgrind (build/tests/oclgrind.reports)"
  failed[oclgrind]=$((failed[oclgrind] + 1))
}

# run_beside NAME: runs tests in a separate process. Its results come back through a file. The tests' output goes to
# NAME.log. The output before the tests, for example of a failed build, goes to NAME.output.
run_beside() {
  (
    if declare -F "run_$1" >/dev/null; then "run_$1"; else run_tests "$1"; fi
    take_processor_time
    used[$1]=$processor_time
    declare -p passed failed skipped note seconds used >"$work/$1.results"
  ) >"$work/$1.output" 2>&1
}
take_results() {
  local name=$1 part
  local -A its_passed=() its_failed=() its_skipped=() its_note=() its_seconds=()  # A run that ended early leaves none.
  eval "$(sed 's/^declare -A \([a-z]*\)=/declare -A its_\1=/' -- "$work/$name.results" 2>/dev/null)"
  for part in passed failed skipped note seconds used; do
    local -n own=$part its=its_$part
    own[$name]=${its[$name]:-}
    unset -n own its
  done
  [ -n "${passed[$name]}" ] || { failed[$name]=1 note[$name]="no results"; }
}
