# shellcheck shell=bash
# Sourced by tests/run.sh: prints what all rows gave.

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
    grep -aE -A 2 --no-group-separator '^(E   |wrong: |[^ ]*: (FATAL )?ERROR: )' -- "$work/$name.log" 2>/dev/null | cut -c 1-200 |
      head -n 9 | sed "s/^/$name:   /" || true
  done
}
