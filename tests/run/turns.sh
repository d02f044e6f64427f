# shellcheck shell=bash
# Sourced by tests/run.sh: what a plain run tests. The commit's hash chooses implementations and tests that take turns.

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

declare -A filter=() # doctest arguments, one per line, for implementations on which a plain run does not run all tests.
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
