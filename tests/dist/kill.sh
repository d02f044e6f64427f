#!/usr/bin/env bash
# tests/dist/kill.sh [RUNS]: kills a rank of a short training at a random moment, again and again (200 times), and goes on
# from the checkpoint, until the training ends. Checks that no run hangs, that each checkpoint is whole, and that the
# weights are those of an undisturbed run, to the last bit. Uses PoCL, and what tests/run.sh --only dist built.
set -uo pipefail
root=$(cd -- "$(dirname -- "${BASH_SOURCE[0]}")/../.." && pwd)
folder=$(mktemp -d)
trap 'rm -rf -- "$folder"' EXIT
export OCL_ICD_VENDORS=$root/build/tests/icd/pocl CRISOL_CACHE_DIR=$root/build/tests/cache/dist CRISOL_TUNING=0 CRISOL_VERIFY=off
export POCL_CACHE_DIR=${POCL_CACHE_DIR:-$root/build/tests/pocl-cache}
as_root=()
[ "$(id -u)" -ne 0 ] || as_root=(--allow-run-as-root)
options=(train --steps 60 --batch 7 --window 16 --hidden 32 --layers 1 --dropout 0.2 --validate-every 60
  --text "$root/LICENSE" --checkpoint-every 7)
runs=${1:-200} kills=0 hangs=0 torn=0 ends=0 wrong=0

train() { # train CHECKPOINT WEIGHTS
  timeout --kill-after=5 120 mpirun "${as_root[@]}" --oversubscribe -n 2 "$root/build/bin/text_lstm" "${options[@]}" \
    --checkpoint "$1" --resume --weights "$2" </dev/null >"$folder/log" 2>&1
}

# own_ranks: the processes that train on this script's checkpoint.
own_ranks() { pgrep -f -- "text_lstm train.*--checkpoint $folder/part.ckpt" | while read -r process; do
  [ "$(cat "/proc/$process/comm" 2>/dev/null)" != text_lstm ] || echo "$process"
done; }

begin=$SECONDS
train "$folder/whole.ckpt" "$folder/whole" || { cat "$folder/log"; exit 1; }
longest=$(((SECONDS - begin) * 1000 + 500))
while [ $kills -lt "$runs" ]; do
  train "$folder/part.ckpt" "$folder/weights" &
  run=$!
  sleep "$(printf '%d.%03d' $((RANDOM * RANDOM % longest / 1000)) $((RANDOM % 1000)))"
  mapfile -t ranks < <(own_ranks)
  if [ ${#ranks[@]} -gt 0 ]; then
    kill -KILL "${ranks[RANDOM % ${#ranks[@]}]}" 2>/dev/null && kills=$((kills + 1))
  fi
  killed=$SECONDS
  wait $run
  status=$?
  [ $status -ne 124 ] && [ $((SECONDS - killed)) -le 10 ] || [ ${#ranks[@]} -eq 0 ] || hangs=$((hangs + 1))
  ! grep -q 'is no safetensors file\|is no checkpoint' "$folder/log" || torn=$((torn + 1))
  [ $status -eq 0 ] || continue
  ends=$((ends + 1))
  cmp -s -- "$folder/whole" "$folder/weights" || wrong=$((wrong + 1))
  rm -f -- "$folder/part.ckpt"
done
train "$folder/part.ckpt" "$folder/weights" && ends=$((ends + 1)) && { cmp -s -- "$folder/whole" "$folder/weights" || wrong=$((wrong + 1)); }
echo "$kills ranks killed, $hangs hangs, $torn torn checkpoints, $ends trainings ended, $wrong with other weights"
[ $((hangs + torn + wrong)) -eq 0 ]
