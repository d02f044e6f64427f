#!/usr/bin/env bash
# tests/onnxruntime/run.sh [--oldest] [--only TEXT] [--sets LIST] [--part K/N] [--verbose]
# tests/onnxruntime/run.sh --sessions [--oldest] [--only TEXT] [--sessions NUMBER]
# tests/onnxruntime/run.sh --models [--only TEXT] [--time SECONDS] [--torchvision FOLDER]
#
# Tests ONNX Runtime with crisol's provider. There are three programs.
#
# Without --sessions and --models, ONNX's own tests run twice: with ONNX Runtime's CPU alone, and with the provider first.
# A test that passes without the provider must pass with it.
#   --only TEXT     takes tests whose names contain the text
#   --sets LIST     takes some of node,simple,light,pytorch-converted,pytorch-operator
#   --part K/N      takes every Nth test, from the Kth
#   --verbose       names the tests of which ONNX Runtime computes nodes itself
#
# --sessions tests options, threads, memory, stored models, and what the provider leaves to ONNX Runtime.
#   --sessions N    the number of sessions in the test of leaks: 1,000 if nothing is said
#
# --models compares real models with ONNX Runtime's CPU. It fails if a node with multiply-adds stays there.
#   --time SECONDS  measures the models too
#   --torchvision FOLDER  adds the networks in a folder
#
# --oldest takes the oldest version of ONNX Runtime that loads plugins. Otherwise the newest one is taken.
#
# Python's packages are installed in build/onnx/ or build/onnx-oldest/. The exit status is 1 if a test failed. It is 3 if
# Python or a package is missing and cannot be installed.
set -euo pipefail
source "$(dirname -- "${BASH_SOURCE[0]}")/../../tools/setup.sh"
source "$crisol_root/tests/onnx/python.sh"

program=conformance_with_provider.py version=$onnxruntime_version
while :; do
  case ${1:-} in
    -h | --help) sed -n '2,/^set /s/^# \{0,1\}//p' -- "${BASH_SOURCE[0]}"; exit 0 ;;
    --sessions) [[ ${2:-} =~ ^[0-9]+$ ]] && break; shift; program=sessions.py ;;
    --models) shift; program=models_with_provider.py ;;
    --oldest) shift; version=$oldest_onnxruntime_version onnx_python=$oldest_onnx_python ;;
    *) break ;;
  esac
done
if ! install_python_packages "onnx==$onnx_version" "onnxruntime==$version" "pillow==$pillow_version"; then
  say "no tests of the provider: $reason"
  exit 3
fi
install_build_tools
install_any_opencl
configure
build crisol_ort
exec "$onnx_python" "$crisol_root/tests/onnxruntime/$program" --library "$crisol_build/lib/libcrisol_ort.so" "$@"
