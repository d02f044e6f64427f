# shellcheck shell=bash
# Sourced by tests/run.sh: training on several ranks of MPI on PoCL. It counts test cases on two ranks, on three ranks, and
# the runs of this file.

platform[dist]="Portable Computing Language"
install_mpi() { need_package libopenmpi-dev have_command mpicxx && need_package openmpi-bin have_command mpirun; }
prepare_dist() {
  prepare_pocl && install_mpi || return 1
  install_python || dist_without_python=$reason
  prepare_intel || dist_without_intel=$reason
}
dist_without_python="" dist_without_intel=""

# on_ranks COUNT COMMAND…: runs a command on ranks. A run that takes half an hour hangs. $dist_icd is the folder of the
# OpenCL implementations that the ranks find.
on_ranks() {
  local count=$1 root=() clean
  shift
  [ "$(id -u)" -ne 0 ] || root=(--allow-run-as-root)
  mapfile -t clean < <(foreign_variables)
  env "${clean[@]}" -u OCL_ICD_FILENAMES "OCL_ICD_VENDORS=$work/icd/$dist_icd" "CRISOL_CACHE_DIR=$caches/dist" "${pocl_variables[@]}" \
    CRISOL_TUNING=0 CRISOL_VERIFY=off "${dist_variables[@]}" \
    timeout --kill-after=5 1800 mpirun "${root[@]}" --oversubscribe -n "$count" "$@" </dev/null 2>&1
}
dist_variables=() dist_icd=pocl

# dist_passes NAME COMMAND…: one run that counts as a test.
dist_passes() {
  local test=$1 start=$SECONDS
  shift
  if "$@"; then
    passed[dist]=$((passed[dist] + 1))
    echo "[dist] $test: passed in $((SECONDS - start)) s"
  else
    failed[dist]=$((failed[dist] + 1))
    echo "[failed] $test"
  fi
}

# ends_with TEXT RANKS COMMAND…: the run ends with an error, at most 10 seconds after the last rank said that it fails now.
# The output names the last rank and then TEXT.
ends_with() {
  local text=$1 output status=0 failed_at end
  shift
  output=$(on_ranks "$@") || status=$?
  end=$(date +%s)
  printf '%s\n' "$output"
  failed_at=$(grep -aoE 'now fails: .* at [0-9]+' <<<"$output" | grep -oE '[0-9]+$') || failed_at=$end
  [ $((end - failed_at)) -le 10 ] || { echo "the run ended after $((end - failed_at)) seconds" && return 1; }
  [ $status -ne 0 ] && [ $status -ne 124 ] && grep -qE "rank $(($1 - 1)) .*$text" <<<"$(tr '\n' ' ' <<<"$output")"
}

# ends_by RANKS SCENARIO TEXT: the same for a scenario of crisol_dist_faults.
ends_by() { ends_with "$3" "$1" "$crisol_build/bin/crisol_dist_faults" "$2"; }

# refuses_other_version: ranks with different versions of the library do not start.
refuses_other_version() {
  local output program=$crisol_build/bin/crisol_dist_faults
  ! output=$(on_ranks 1 "$program" : -n 1 -x "LD_PRELOAD=$crisol_build/lib/libcrisol_other_version.so" "$program") || return 1
  printf '%s\n' "$output"
  grep -qE 'rank 1 of 2 .* has version 0\.0\.9 of the library, rank 0 of 2 .* has ' <<<"$output"
}

# two_vendors: one rank on PoCL and one on Intel's runtime train together.
two_vendors() {
  local output status=0
  mkdir -p -- "$work/icd/dist" && cp -- "$work"/icd/{pocl,intel}/*.icd "$work/icd/dist" || return 1
  dist_icd=dist dist_variables=(CRISOL_DEVICE=cpu:0,cpu:1)
  output=$(on_ranks 2 "$crisol_build/bin/crisol_dist_tests" --no-colors --minimal \
    "--test-case=*different devices*,*long training*,*training on all ranks*,*gives the weights and the state*,*sync_batch_norm gives*") ||
    status=$?
  dist_icd=pocl dist_variables=()
  printf '%s\n' "$output"
  [ $status -eq 0 ] && [ "$(grep -oaE '^\[rank [01]\] [^:]*' <<<"$output" | cut -d' ' -f3- | sort -u | wc -l)" -eq 2 ]
}

# same_training RANKS: a training of text_lstm that goes on from a checkpoint ends with the bits of an undisturbed one.
# Another number of ranks can go on from it too.
same_training() {
  local ranks=$1 folder=$work/dist.files lstm=$crisol_build/bin/text_lstm run options output
  options=(train --steps 12 --batch 7 --window 8 --hidden 16 --layers 1 --dropout 0.2 --validate-every 6
    --text "$crisol_root/LICENSE" --checkpoint-every 5)
  rm -rf -- "$folder" && mkdir -p -- "$folder"
  on_ranks "$ranks" "$lstm" "${options[@]}" --checkpoint "$folder/whole.ckpt" --weights "$folder/whole" &
  run=$!
  while [ ! -e "$folder/whole.ckpt" ] && kill -0 $run 2>/dev/null; do sleep 0.01; done
  cp -- "$folder/whole.ckpt" "$folder/early.ckpt" && cp -- "$folder/early.ckpt" "$folder/other.ckpt" && wait $run || return 1
  on_ranks "$ranks" "$lstm" "${options[@]}" --checkpoint "$folder/early.ckpt" --resume --weights "$folder/resumed" || return 1
  cmp -- "$folder/whole" "$folder/resumed" || return 1
  # The whole output is read: mpirun may crash when nobody reads what it writes.
  output=$(on_ranks $((5 - ranks)) "$lstm" "${options[@]}" --checkpoint "$folder/other.ckpt" --resume \
    --weights "$folder/other") || { printf '%s\n' "$output"; return 1; }
  grep -q 'resumed after step' <<<"$output" && [ -s "$folder/other" ]
}

with_optimization=(POCL_EXTRA_BUILD_FLAGS=) # These trainings run for longer than PoCL compiles.

# mnist_works: the sample prints once, and ends with the loss and the accuracy of a single process.
mnist_works() {
  local dist_variables=("${dist_variables[@]}" "${with_optimization[@]}") output alone
  local mnist=("$crisol_build/bin/mnist" train --digits 1280 --epochs 2)
  output=$(on_ranks 2 "${mnist[@]}") && alone=$(on_ranks 1 "${mnist[@]}") || { printf '%s\n' "$output" "$alone"; return 1; }
  printf '%s\n' "$output" "$alone"
  [ "$(grep -c 'rank 0 of 2' <<<"$output")" -eq 1 ] && [ "$(grep -c 'test accuracy' <<<"$output")" -eq 2 ] || return 1
  printf '%s\n' "$output" "$alone" | sed -n 's/.*epoch 2.2: train loss \([0-9.]*\), test accuracy \([0-9.]*\) .*/\1 \2/p' |
    awk 'NR == 1 { loss = $1; accuracy = $2 }
      NR == 2 { same = ($1 - loss) ^ 2 < 1e-4 && ($2 - accuracy) ^ 2 <= 1 }
      END { exit NR != 2 || !same }'
}

# test_ranks RANKS: all test cases on so many ranks.
test_ranks() {
  local output status=0 line good=0 bad=1
  output=$(on_ranks "$1" "$crisol_build/bin/crisol_dist_tests" --no-colors --minimal) || status=$?
  printf '%s\n' "$output"
  line=$(grep -aE '^crisol_dist_tests: [0-9]+ passed, [0-9]+ failed on' <<<"$output") || true
  read -r good bad _ < <(tr -dc '0-9 \n' <<<"${line:-0 1}") || true
  [ "$status" -eq 0 ] || [ "$bad" -gt 0 ] || bad=1
  passed[dist]=$((passed[dist] + good)) failed[dist]=$((failed[dist] + bad))
}

# slow_network: two ranks with latency between them, where network namespaces can be made.
slow_network() {
  local status=0
  "$crisol_root/tests/dist/netem.sh" lstm 50 || status=$?
  if [ $status -eq 3 ]; then
    skipped[dist]=$((skipped[dist] + 1))
    echo "[skipped] a slow network"
  else
    dist_passes "a slow network" test $status -eq 0
  fi
}

# python_learns: the Python sample prints once, and reaches the accuracy of a single process.
python_learns() {
  local dist_variables=("${dist_variables[@]}" "${with_optimization[@]}") output
  output=$(on_ranks 2 "$python_of_tests" "$crisol_root/samples/python/mnist.py" --digits 1500 --epochs 2) ||
    { printf '%s\n' "$output"; return 1; }
  printf '%s\n' "$output"
  [ "$(grep -c 'and 1 more ranks' <<<"$output")" -eq 1 ] && grep -qE 'epoch 2: .* test (9[0-9]|100)\.' <<<"$output"
}

# python_of_dist: crisol.distributed, alone and beside mpi4py.
python_of_dist() {
  local folder=$crisol_root/tests/dist
  if [ -n "$dist_without_python" ]; then
    skipped[dist]=$((skipped[dist] + 6))
    echo "[skipped] crisol.distributed of Python: $dist_without_python"
    return
  fi
  dist_variables=("PYTHONPATH=$crisol_build/python")
  dist_passes "python on 2 ranks" on_ranks 2 "$python_of_tests" "$folder/python_ranks.py"
  dist_passes "python beside mpi4py on 3 ranks" on_ranks 3 "$python_of_tests" "$folder/python_ranks.py" --mpi4py
  dist_passes "python's mnist" python_learns
  dist_passes "an exception in python" ends_with "RuntimeError: the scenario threw" 2 \
    "$python_of_tests" "$folder/python_faults.py" throw
  dist_passes "an exception in a thread of python" ends_with "RuntimeError: the scenario threw" 3 \
    "$python_of_tests" "$folder/python_faults.py" thread
  dist_passes "a python program without finish" ends_with "ended before dist.finish" 2 \
    "$python_of_tests" "$folder/python_faults.py" exit
  dist_variables=()
}

all_of_dist() {
  test_ranks 2
  test_ranks 3
  dist_passes "a run without faults" on_ranks 3 "$crisol_build/bin/crisol_dist_faults"
  dist_passes "an exception" ends_by 2 throw "the scenario threw"
  dist_passes "an exception in backward" ends_by 3 backward "a hook of the scenario threw"
  dist_passes "an exception in backward, with a divided optimizer" ends_by 2 divided "a hook of the scenario threw"
  dist_passes "an exception in a replay" ends_by 3 replay "a replay threw: a hook of the scenario threw"
  dist_passes "a rank that gives up" ends_by 2 fail "the scenario gave up"
  dist_passes "other calls than the other ranks" ends_by 2 differ "ended the run"
  dist_passes "exit without finish" ends_by 2 exit "ended before dist::finish"
  dist_passes "a killed rank" ends_by 3 kill "signal 9"
  dist_passes "a segmentation fault" ends_by 2 segfault "signal 11"
  dist_passes "a silent rank" ends_by 2 stop "no sign of life for 9 seconds"
  dist_passes "weights that differ" ends_by 3 drift \
    "the weights of the ranks differ from those of rank 0: 1.weight of rank 2"
  dist_passes "another version of the library" refuses_other_version
  if [ -n "$dist_without_intel" ]; then
    skipped[dist]=$((skipped[dist] + 1))
    echo "[skipped] devices of two vendors: $dist_without_intel"
  else
    dist_passes "devices of two vendors" two_vendors
  fi
  dist_passes "mnist" mnist_works
  dist_passes "text_lstm" same_training 2
  slow_network
  python_of_dist
}

run_dist() {
  local start=$SECONDS
  passed[dist]=0 failed[dist]=0 skipped[dist]=0
  mkdir -p -- "$caches/dist"
  if [ ! -x "$crisol_build/bin/crisol_dist_tests" ]; then
    failed[dist]=1 note[dist]="crisol_dist_tests is not built"
  else
    all_of_dist >"$work/dist.log" 2>&1
  fi
  seconds[dist]=$((SECONDS - start))
}
