#!/usr/bin/env bash
# tests/run.sh [--long] [--only NAME,…] [-- arguments of doctest]
#
# Installs what is missing, builds everything in build/, and runs the tests. A plain run tests:
#   gpu                   each GPU that the drivers of this machine show: all tests
#   pocl                  an OpenCL implementation on the CPU: all ops, half of the layers above the ops, a sixteenth of
#                         the long tests, and the tests that need no driver. For fifteen of sixteen test files it compiles
#                         kernels without optimization
#   intel                 another implementation on the CPU: a quarter of the test files of the ops, the other half of the
#                         layers above the ops, another sixteenth of the long tests, and the tests of drivers
#   rusticl               another implementation on the CPU: a sixteenth of the test files that run kernels
#   oclgrind              a simulator that reports invalid accesses and races: another sixteenth of them
#   pocl-6 rusticl-25     the implementations of Debian 13, in a root below build/: all ops by crisol selftest, and half of
#                         the test files of products, convolutions, recurrent layers, reductions, softmax and losses
#   as-nvidia             a CPU that poses as NVIDIA's GPU: an eighth of the test files of the ops
#   dist                  training on two and three ranks of MPI, on PoCL (tests/dist/run.sh)
#   onnx                  ONNX's own tests on PoCL, from its Python package (tests/onnx/run.sh)
#   onnx-models           models that packages of PyPI bring, compared with ONNX Runtime (tests/onnx/run.sh --real)
#   onnx-fitted           models that scikit-learn, LightGBM and XGBoost fit, compared likewise (tests/onnx/run.sh --fitted)
#   ort                   ONNX Runtime with crisol's provider, on PoCL (tests/onnxruntime/run.sh): sessions in its oldest and
#                         its newest version, and a sixteenth of ONNX's own tests. --only and --long run all of these tests,
#                         and 1,000 sessions in the test of leaks instead of 200
#   python python-intel   the Python package (tests/python): half of the test files on PoCL, the others on Intel's runtime
#   torch                 the device of PyTorch on PoCL, where CRISOL_TORCH_PYTHON names a Python that has PyTorch
#   array-api             the Array API standard's own tests on Intel's runtime, where CRISOL_ARRAY_API_TESTS names them
#   fuzz-python           random programs of the Python package and random ONNX models, on PoCL; --only and --long run it
#   windows aarch64       builds for Windows (by Wine) and for 64-bit ARM (by qemu): some ops by crisol selftest
#   offline               the vendors' compilers for GPUs that are not here: one target of one vendor, by the commit's hash
# The commit's hash chooses the parts and the sixteenths above. So a run ends soon, and a few commits test everything. The
# long tests are the suite "long" of the test program. The hash also chooses which kernels PoCL compiles with
# optimization: those of a sixteenth of the test files. For dist, onnx, onnx-models, onnx-fitted and python, PoCL compiles
# all kernels without it. Of pocl-6, rusticl-25, windows and aarch64 the hash chooses one. windows and aarch64 are whole
# builds. If it is none of these two, the hash also chooses one of rusticl and oclgrind.
# --only NAME,… runs only the implementations of these names. Each runs all its tests, long ones too, with optimization.
# Only windows and aarch64 compile kernels without it. as-amd, as-intel and wheel run only with --only or --long. wheel
# makes the Python wheels, and tests them in roots of Debian 12 and 13.
# --long runs all tests on intel, rusticl, oclgrind, pocl-6, rusticl-25 and the posing CPUs, all ops on windows, some on
# aarch64, and all offline targets. A release needs such a run.
#
# Prints a table and ends with "N passed, N failed". The numbers count test cases, summed over all runs. For windows and
# aarch64 they count ops, and for offline they count targets. For onnx, onnx-models and onnx-fitted they count models, and
# models that the library refuses count as skipped. An implementation that is missing and cannot be installed is left
# out, and the table says why. Only PoCL is required. Fails when a test failed or a run crashed. Also fails when PoCL was
# wanted and not tested, or when --only named a GPU and none was tested. Logs: build/tests/.
set -euo pipefail
source "$(dirname -- "${BASH_SOURCE[0]}")/../tools/setup.sh"

all_implementations=(gpu pocl intel rusticl oclgrind pocl-6 rusticl-25 as-nvidia as-amd as-intel dist onnx onnx-models onnx-fitted ort python python-intel torch array-api fuzz-python wheel windows aarch64 offline)
declare -A platform=([pocl]="Portable Computing Language" [intel]="Intel(R) OpenCL" [rusticl]="rusticl"
  [oclgrind]="Oclgrind" [offline]="none" [gpu]="of each GPU" [aarch64]="Portable Computing Language"
  [windows]="Portable Computing Language" [onnx]="Portable Computing Language" [onnx-models]="Portable Computing Language"
  [onnx-fitted]="Portable Computing Language" [ort]="Portable Computing Language")
declare -A filter=() # doctest arguments, one per line, for implementations on which a plain run does not run all tests.
work=$crisol_build/tests # Logs, caches, and for each implementation a folder of .icd files that names only it.

selected=("${all_implementations[@]}")
named= # Whether the user names what to test.
long=  # Whether the user wants the slow parts too.
doctest_arguments=()
while [ $# -gt 0 ]; do
  case $1 in
    --only) [ $# -ge 2 ] || die "--only wants names: ${all_implementations[*]}"
      IFS=, read -ra selected <<<"$2"; named=yes; shift 2 ;;
    --only=*) IFS=, read -ra selected <<<"${1#*=}"; named=yes; shift ;;
    --long) long=yes; shift ;;
    --) shift; doctest_arguments=("$@"); break ;;
    -h | --help) sed -n '2,/^set /s/^# \{0,1\}//p' -- "${BASH_SOURCE[0]}"; exit 0 ;;
    *) die "unknown argument $1 (see --help)" ;;
  esac
done
for name in "${selected[@]}"; do
  [[ " ${all_implementations[*]} " == *" $name "* ]] || die "unknown implementation $name; there are: ${all_implementations[*]}"
done

# A number of this commit, for implementations and tests that take turns.
commit=$(git -C "$crisol_root" rev-parse HEAD 2>/dev/null) || commit=0
commit_number=$((16#${commit:0:6}))
turn=$((commit_number % 4))
half=$((commit_number / 8 % 2))
eighth=$((commit_number % 8))
sixteenth=$((commit_number / 16 % 16))
plain= # Whether this is a plain run, in which some implementations take turns.
[ -n "$named$long${doctest_arguments[*]}" ] || plain=yes
caches=$work/cache${plain:+-plain} # Programs of a plain run may be compiled without optimization.

# cache_of NAME: the folder in which a row keeps programs. The rows on Intel's runtime share one, because the row
# intel compiles half of the programs of python-intel and array-api. PoCL has a cache of its own for all rows.
cache_of() {
  case $1 in
    python-intel | array-api) echo "$caches/intel" ;;
    onnx-* | ort) echo "$caches/onnx" ;;
    *) echo "$caches/$1" ;;
  esac
}

# has_turn NAME: whether this run tests an implementation that takes turns with another one.
has_turn() {
  [ -n "$plain" ] || return 0
  reason="takes turns by the commit's hash; --only and --long test it"
  case $1 in
    pocl-6) [ $turn -eq 0 ] ;;
    rusticl-25) [ $turn -eq 1 ] ;;
    windows) [ $turn -eq 2 ] ;;
    aarch64) [ $turn -eq 3 ] ;;
    rusticl) [ $turn -lt 2 ] && [ $half -eq 0 ] ;;
    oclgrind) [ $turn -lt 2 ] && [ $half -eq 1 ] ;;
  esac
}

# part_of_files PARTS NUMBER FOLDER…: every PARTS-th test file of the folders, as a list for doctest.
part_of_files() {
  (cd -- "$crisol_root" && find "${@:3}" -name '*_test.cpp') | LC_ALL=C sort |
    awk -v parts="$1" -v number="$2" 'NR % parts == number % parts { printf "*/%s,", $0 }'
}

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

# ---- The implementations: each prepare_NAME registers one, or fails and says why in `reason` ----------------------------

declare -A left_out=() variables=()

# register NAME LIBRARY: makes a folder of .icd files in which the OpenCL loader finds only this implementation.
register() {
  mkdir -p -- "$work/icd/$1"
  printf '%s\n' "$2" >"$work/icd/$1/$1.icd"
}

# need_package PACKAGE TEST…: installs PACKAGE if the command TEST fails. Fails if TEST still fails after that.
need_package() {
  local package=$1
  shift
  if "$@"; then return 0; fi
  reason=$(why_no_install)
  if [ -n "$reason" ]; then
    reason="$package is missing, $reason"
  elif ! install_packages "$package"; then
    reason="$package cannot be installed"
  else
    reason="$package does not bring what is needed"
    "$@"
    return
  fi
  return 1
}

prepare_from_vendors() {
  local name=$1 package=$2
  need_package "$package" test -s "/etc/OpenCL/vendors/$name.icd" || return 1
  register "$name" "$(cat "/etc/OpenCL/vendors/$name.icd")"
}

prepare_pocl() { prepare_from_vendors pocl pocl-opencl-icd; }
prepare_rusticl() { prepare_from_vendors rusticl mesa-opencl-icd; }

oclgrind_library() {
  local program
  program=$(command -v oclgrind) || return 1
  readlink -e -- "$(dirname -- "$(readlink -f -- "$program")")/../lib/oclgrind/liboclgrind-rt-icd.so"
}
have_oclgrind() { oclgrind_library >/dev/null; }
prepare_oclgrind() {
  need_package oclgrind have_oclgrind || return 1
  register oclgrind "$(oclgrind_library)"
}

have_venv() { python3 -c 'import ensurepip, venv' 2>/dev/null; }
install_intel() {
  local venv=$1
  need_package python3-venv have_venv || return 1
  rm -rf -- "$venv"
  reason="python3 -m venv failed"
  run_logged intel-venv "Making a Python environment for Intel's OpenCL runtime" python3 -m venv -- "$venv" || return 1
  reason="intel-opencl-rt cannot be installed from PyPI"
  run_logged intel-pip "Installing intel-opencl-rt from PyPI" \
    "$venv/bin/python" -m pip install --disable-pip-version-check intel-opencl-rt intel-cmplr-lib-rt || return 1
  reason="intel-opencl-rt has no libintelocl.so"
  [ -e "$venv/lib/libintelocl.so" ] || return 1
  : >"$venv/complete"
}
prepare_intel() {
  local venv=$crisol_build/intel-opencl
  reason="for x86-64 only, this is $(uname -m)"
  [ "$(uname -m)" = x86_64 ] || return 1
  [ -e "$venv/complete" ] || install_intel "$venv" || return 1
  register intel "$venv/lib/libintelocl.so"
}

# GPUs are tested with the drivers that the user's own environment shows. No driver is installed here.
prepare_gpu() { show_nvidia; }

# Prints options of env that remove the user's variables which the library and its tests would read.
foreign_variables() {
  local variable
  for variable in ${!CRISOL_@}; do
    [ "$variable" = CRISOL_TEST_DATA ] || printf -- '-u\n%s\n' "$variable"
  done
}

# list_gpus: prints a line "number, platform, name" for each GPU, numbered as in CRISOL_DEVICE=gpu:NUMBER. Leaves
# simulators out.
list_gpus() {
  local clean
  mapfile -t clean < <(foreign_variables)
  env "${clean[@]}" "$crisol_build/bin/crisol" devices --json 2>"$work/gpu.log" |
    awk -F'"' '$2 ~ /^(name|platform|type)$/ { its[$2] = $4 }
      $2 == "type" && $4 == "gpu" {
        if (its["platform"] != "Oclgrind") print count + 0 "\t" its["platform"] "\t" its["name"]
        ++count
      }'
}

declare -A gpu_number=() gpu_name=()
# find_gpus: replaces "gpu" by a name for each GPU: gpu-0, gpu-1 and so on. Needs the built programs.
find_gpus() {
  local number of device name found=() rest=()
  while IFS=$'\t' read -r number of device; do
    name=gpu-$number
    found+=("$name")
    gpu_number[$name]=$number gpu_name[$name]="$device ($of)" platform[$name]=$of
  done < <(list_gpus)
  if [ ${#found[@]} -eq 0 ]; then
    left_out[gpu]="no driver here shows a GPU"
    return
  fi
  for name in "${selected[@]}"; do [ "$name" = gpu ] || rest+=("$name"); done
  selected=("${found[@]}" "${rest[@]}")
}

source "$crisol_root/tests/gpu/offline.sh"
source "$crisol_root/tests/watch.sh"
source "$crisol_root/tests/platforms/debian13.sh"
source "$crisol_root/tests/platforms/aarch64.sh"
source "$crisol_root/tests/platforms/windows.sh"
source "$crisol_root/tests/platforms/pose.sh"
source "$crisol_root/tests/dist/run.sh"
source "$crisol_root/tests/onnx/python.sh"
source "$crisol_root/tests/python/rows.sh"
source "$crisol_root/tests/torch_device/rows.sh"

prepare_onnx() {
  prepare_pocl && install_python_packages "onnx==$onnx_version" "onnxruntime==$onnxruntime_version"
}
prepare_onnx-models() {
  prepare_onnx && download_onnx_models
}
prepare_onnx-fitted() {
  prepare_onnx && install_python_packages "${onnx_fitted_packages[@]}"
}

prepare_ort() {
  prepare_onnx && install_python_packages "pillow==$pillow_version" &&
    onnx_python=$oldest_onnx_python install_python_packages "onnx==$onnx_version" "onnxruntime==$oldest_onnxruntime_version"
}

variables[intel]="LD_LIBRARY_PATH=$crisol_build/intel-opencl/lib${LD_LIBRARY_PATH:+:$LD_LIBRARY_PATH}"
variables[rusticl]="RUSTICL_ENABLE=llvmpipe"
variables[oclgrind]="OCLGRIND_DATA_RACES=1"
if [ -n "$plain" ]; then
  # Long tests take minutes there. --only and --long run them.
  kernel_folders=(tests/{autograd,dispatch,functions,graph,nn,ops,optim,runtime,tensor})
  filter[rusticl]="--test-suite-exclude=long
--source-file=$(part_of_files 16 $sixteenth "${kernel_folders[@]}")"
  filter[oclgrind]="--test-suite-exclude=long
--source-file=$(part_of_files 16 $((sixteenth + 8)) "${kernel_folders[@]}")"
  # "gemm block: every tile" takes five minutes there, and other implementations run it too.
  filter[as-nvidia]="--test-suite-exclude=long
--source-file=$(part_of_files 8 $((eighth + 1)) tests/ops)
--test-case-exclude=gemm block: every tile*"
  its_files=(matmul rnn softmax conv2d reduce loss)
  for name in pocl-6 rusticl-25; do
    filter[$name]="--test-suite-exclude=long
--source-file=$(printf '*/%s_test.cpp,' "${its_files[@]:half * 3:3}")"
  done
fi
# Without optimization, PoCL compiles in a third of the time. The kernels are tested with optimization elsewhere. A
# program in Wine cannot change the variables that PoCL sees.
without_optimization="POCL_EXTRA_BUILD_FLAGS=-cl-opt-disable"
# PoCL shows no device if it cannot write to the home folder, so its cache has a place. All rows on PoCL share it.
pocl_variables=("POCL_CACHE_DIR=$work/pocl-cache" ${plain:+"$without_optimization"})
variables[pocl]=$(printf '%s\n' "${pocl_variables[@]}" CRISOL_KERNEL_WARNINGS=error ${plain:+"CRISOL_TEST_OPTIMIZED=$((commit_number % 16))/16"})
variables[windows]=$without_optimization
variables[aarch64]="CRISOL_TEST_SLOW=1"$'\n'"$without_optimization"

# not_the_long_tests_of NAME NUMBER TEST…: says which sixteenth of the long tests NAME runs, and prints an argument for
# doctest that leaves out the others.
not_the_long_tests_of() {
  say "Long tests of $1:" "$(printf '%s\n' "${@:3}" | awk -v n="$2" 'NR % 16 == n { print "  " $0 }')"
  # doctest separates names by commas.
  printf -- '--test-case-exclude=%s\n' "$(printf '%s\n' "${@:3}" | awk -v n="$2" 'NR % 16 != n' | tr ',' '?' | paste -sd ,)"
}

# divide_tests: chooses the tests of pocl and intel in a plain run: a sixteenth of the long tests on each, each test file of
# the layers above the ops on one of the two, and a quarter of the ops on intel. Matrix units run only on intel, so its
# quarter always has the files that test them. Files that use no driver run on pocl alone. Needs the built programs.
divide_tests() {
  local upper=(tests/{autograd,c_api,functions,graph,io,nn,onnx,optim,tensor}) long_tests number
  mapfile -t long_tests < <(OCL_ICD_VENDORS=$work/icd/pocl "$crisol_build/bin/crisol_tests" --no-version --list-test-cases \
    --test-suite=long | grep -vE '^(=+$|\[doctest\]|device: )')
  [ ${#long_tests[@]} -gt 0 ] || die "the test program lists no long tests"
  filter[pocl]=$(not_the_long_tests_of pocl $((commit_number % 16)) "${long_tests[@]}")
  filter[intel]="$(not_the_long_tests_of intel $(((commit_number + 8) % 16)) "${long_tests[@]}")
--source-file-exclude=$(printf '*/tests/%s*,' base/ cli/ docs/ samples/ support/ \
    {dtypes,exported_symbols,install,layers,lengths,licences,package,type_names}_test.cpp
    part_of_files 2 $turn "${upper[@]}"
    for number in 1 2 3; do part_of_files 4 $((turn + number)) tests/ops; done | sed 's,[^,]*\(matrix\|attention\)_test.cpp\,,,g')"
  [ -n "${left_out[intel]:-}" ] || filter[pocl]+="
--source-file-exclude=$(part_of_files 2 $((turn + 1)) "${upper[@]}")"
}

# ---- Running ---------------------------------------------------------------------------------------------------------

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

# run_onnx_python NAME PROGRAM ARGUMENT…: a Python program on PoCL. Its output is appended to NAME.log.
run_onnx_python() {
  local clean
  mapfile -t clean < <(foreign_variables)
  watched "$work/$1.progress" env "${clean[@]}" -u OCL_ICD_FILENAMES "OCL_ICD_VENDORS=$work/icd/pocl" \
    "CRISOL_CACHE_DIR=$(cache_of "$1")" "${pocl_variables[@]}" "$onnx_python" "$crisol_root/tests/$2" "${@:3}" \
    </dev/null >>"$work/$1.log" 2>&1
}

# run_onnx_program NAME PROGRAM ARGUMENT…: a program of tests/onnx/programs on PoCL.
run_onnx_program() {
  local start=$SECONDS status=0
  run_onnx_python "$1" "onnx/programs/$2" --library "$crisol_build/lib/libcrisol.so" --json "$work/$1.json" "${@:3}" ||
    status=$?
  take_counts "$1" "$status" "$start" onnx
}
run_onnx() { run_onnx_program onnx conformance.py --least "$onnx_least_passed"; }
run_onnx-models() { run_onnx_program onnx-models real_models.py --least "$onnx_least_models"; }
run_onnx-fitted() { run_onnx_program onnx-fitted fitted_models.py --least "$onnx_least_fitted"; }
run_ort() {
  local start=$SECONDS status=0 library=$crisol_build/lib/libcrisol_ort.so part=0/1 sessions=1000
  if [ -n "$plain" ]; then
    part=$((commit_number % 16))/16 sessions=200
    say "ort: part $part of ONNX's own tests, $sessions sessions; --only ort and --long run all, and 1,000 sessions"
  fi
  run_onnx_python ort onnxruntime/sessions.py --library "$library" --sessions "$sessions" || status=$?
  onnx_python=$oldest_onnx_python run_onnx_python ort onnxruntime/sessions.py --library "$library" \
    --sessions "$sessions" || status=$?
  run_onnx_python ort onnxruntime/conformance_with_provider.py --library "$library" --part "$part" \
    --least-share 0.8 || status=$?
  # Three programs, three lines of counts.
  awk '/^ort: [0-9]+ passed, [0-9]+ failed/ { p += $2; f += $4; s += $6 } END { printf "all-ort: %d passed, %d failed, %d skipped\n", p, f, s }' \
    "$work/ort.log" >>"$work/ort.log"
  take_counts ort "$status" "$start" all-ort
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

print_row() { printf '%-14s %8s %8s %8s %7s  %s\n' "$@"; }

# lines_of NAME MARK: the lines of its log that begin with [MARK].
lines_of() { grep -ahE "^\\[$2\\] " -- "$work/$1.log" 2>/dev/null || true; }

print_skips() {
  local name
  for name in "${selected[@]}"; do
    # The Array API's suite skips some 200 tests: complex numbers, float64 and newer versions. They are only counted.
    lines_of "$name" skipped |
      awk -v name="$name" '/^\[skipped\] array_api_tests/ { left++; next } { print name ": " $0 }
        END { if (left) print name ": [skipped] " left " tests; its log and its skips.txt give the reasons" }'
  done
}

print_table() {
  local name
  echo
  print_row implementation passed failed skipped time note
  for name in "${selected[@]}"; do
    if [ -n "${left_out[$name]:-}" ]; then
      print_row "$name" - - - - "left out: ${left_out[$name]}"
    else
      print_row "$name" "${passed[$name]}" "${failed[$name]}" "${skipped[$name]}" "${seconds[$name]} s" \
        "${gpu_name[$name]:-}${gpu_name[$name]:+${note[$name]:+, }}${note[$name]:-}"
    fi
  done
}

# print_failures: the failed tests, and of each row the first errors in its log. They are printed last, because who reads
# the output of CI may see its end alone.
print_failures() {
  local name
  for name in "${selected[@]}"; do
    [ "${failed[$name]:-0}" -gt 0 ] || continue
    lines_of "$name" failed | sed "s/^/$name: /"
    grep -aE -A 2 --no-group-separator '^(E   |[^ ]*: ERROR: )' -- "$work/$name.log" 2>/dev/null | cut -c 1-200 |
      head -n 9 | sed "s/^/$name:   /" || true
  done
}

# is_selected NAME…: whether the user wants one of them.
is_selected() {
  local name
  for name in "$@"; do
    [[ " ${selected[*]} " != *" $name "* ]] || return 0
  done
  return 1
}

# prepare NAME…: those of the names that this run tests.
prepare() {
  local name
  for name in "$@"; do
    is_selected "$name" || continue
    reason=
    has_turn "$name" && "prepare_$name" || left_out[$name]=$reason
  done
}

mkdir -p -- "$work"
rm -f -- "$work"/*.log
install_build_tools doctest/doctest.h
for tool in make pkg-config; do # For programs that are built with the installed library.
  need_package "$tool" have_command "$tool" || die "$reason"
done
# What is built depends on MPI and on Python's packages. Everything else is installed during the build.
if is_selected dist; then install_mpi || true; fi
if is_selected dist python python-intel torch array-api fuzz-python wheel; then install_python || true; fi
build_options=(CRISOL_BUILD_TESTS=ON CRISOL_BUILD_CLI=ON CRISOL_BUILD_SAMPLES=ON)
if [ -e "$python_tests/installed.txt" ]; then build_options+=("${python_options[@]}"); else build_options+=(CRISOL_BUILD_PYTHON=OFF); fi
if is_selected torch; then mapfile -t -O ${#build_options[@]} build_options < <(torch_options); fi
configure "${build_options[@]}"
end_stage "install for the build"
build &
build_job=$!
for tool in clang-format doxygen; do # Without them, the tests of formatting and of the API reference are skipped.
  need_package "$tool" have_command "$tool" || say "note: $reason"
done
prepare "${all_implementations[@]}"
wait "$build_job" || exit 1
end_stage "build, and install for the tests"
if is_selected gpu; then find_gpus; fi
[ -z "$plain" ] || divide_tests

# Python keeps what it compiles of packages and tests, but not beside the sources.
unset PYTHONDONTWRITEBYTECODE
export PYTHONPYCACHEPREFIX=$python_bytecode

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

for name in "${selected[@]}"; do
  rm -rf -- "$(cache_of "$name")"
  mkdir -p -- "$(cache_of "$name")"
done

# Tests mostly wait for a driver's compiler, which uses one core, and now and then for other processes. So one
# implementation more than there are cores runs at a time. The slowest ones start first.
running=0
for name in "${!gpu_number[@]}" windows aarch64 pocl rusticl rusticl-25 oclgrind "${!posed_file[@]}" intel wheel fuzz-python dist onnx onnx-models onnx-fitted ort torch python python-intel array-api pocl-6 offline; do
  is_selected "$name" && [ -z "${left_out[$name]:-}" ] || continue
  if [ $running -gt "$(nproc 2>/dev/null || echo 2)" ]; then
    wait -n || true
    running=$((running - 1))
  fi
  rm -f -- "$work/$name.results"
  say "Testing: $name (build/tests/$name.log)"
  run_beside "$name" &
  running=$((running + 1))
done
wait
for name in "${selected[@]}"; do
  [ -z "${left_out[$name]:-}" ] || continue
  cat -- "$work/$name.log" 2>/dev/null || cat -- "$work/$name.output"
  take_results "$name"
  say "[time] $name: ${seconds[$name]:-?} s, ${used[$name]:-?} s of processors"
done
end_stage "all tests"

print_skips
print_table
print_failures
total_passed=0 total_failed=0 status=0
for name in "${selected[@]}"; do
  total_passed=$((total_passed + ${passed[$name]:-0}))
  total_failed=$((total_failed + ${failed[$name]:-0}))
done
if [ -n "${left_out[pocl]:-}" ]; then
  echo "PoCL must be tested, and was not."
  status=1
fi
if [ -n "$named" ] && [ -n "${left_out[gpu]:-}" ]; then
  echo "A GPU was to be tested, and there is none."
  status=1
fi
[ $total_failed -eq 0 ] && [ $total_passed -gt 0 ] || status=1
echo "$total_passed passed, $total_failed failed"
exit $status
