#!/usr/bin/env bash
# docs/build.sh [--measure]
#
# Writes the tables of the pages anew from docs/results/, and the API reference to build/api/html where doxygen is. Writes
# the reference of the Python package to build/api/python where build/python-tests is (tests/python/python.sh makes it).
# With --measure takes those results again first (minutes): needs the CUDA toolkit, and what tests/run.sh installs.
# docs/results/verified/ is written by docs/verified.py.
set -euo pipefail
cd -- "$(dirname -- "${BASH_SOURCE[0]}")/.."
if [ "${1:-}" = --measure ]; then
  bench/memory_formula.py
  icd=$PWD/build/tests/icd
  samples/cuda_vs_opencl/measure.py \
    --device "PoCL=OCL_ICD_VENDORS=$icd/pocl" \
    --device "Intel CPU runtime=OCL_ICD_VENDORS=$icd/intel LD_LIBRARY_PATH=$PWD/build/intel-opencl/lib" \
    --device "rusticl on llvmpipe=OCL_ICD_VENDORS=$icd/rusticl RUSTICL_ENABLE=llvmpipe"
elif [ $# -gt 0 ]; then
  sed -n '2,/^set /s/^# \{0,1\}//p' -- "${BASH_SOURCE[0]}"
  exit 2
fi
samples/cuda_vs_opencl/tables.py
if command -v doxygen >/dev/null; then doxygen docs/Doxyfile; fi
python=build/python-tests/bin/python
if [ -x "$python" ] && [ -e build/python/crisol/_crisol/__init__.pyi ]; then
  # Modules that crisol itself does not import are named.
  modules="crisol crisol.from_pytorch crisol.gguf"
  if compgen -G "build/python/crisol/_dist*" >/dev/null; then modules="$modules crisol.distributed"; fi
  if PYTHONPATH=build/python "$python" -c 'import crisol.torch' 2>/dev/null; then modules="$modules crisol.torch"; fi
  # shellcheck disable=SC2086
  PYTHONPATH=build/python "$python" -m pdoc --docformat restructuredtext --output-directory build/api/python $modules \
    '!crisol\._' '!crisol\.nn\._'
fi
