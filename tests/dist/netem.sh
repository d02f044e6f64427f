#!/usr/bin/env bash
# tests/dist/netem.sh [MODEL [BATCH]]: two ranks with 1 ms of latency and 1 Gbit/s between them. Each has a network namespace
# and half of the cores, and they have TCP alone. Checks that a training ends with the weights of two ranks without such a
# network, to the last bit. Prints the share of the sums that backward() hides, by crisol_dist_bench.
# The network is a veth pair with tc's netem, or crisol_slow_link where the kernel has no netem. Uses PoCL, and what
# tests/run.sh --only dist built. Ends with 3, and says why, where namespaces cannot be made.
set -euo pipefail
root=$(cd -- "$(dirname -- "${BASH_SOURCE[0]}")/../.." && pwd)
delay_us=1000 rate_mbit=1000
places=("crisol-$$-a" "crisol-$$-b") device=crisol0 link=''
folder=$(mktemp -d)

leave_out() {
  echo "left out: $*"
  exit 3
}

clean() {
  [ -z "$link" ] || kill "$link" 2>/dev/null || true
  for place in "${places[@]}"; do ip netns delete "$place" 2>/dev/null || true; done
  rm -rf -- "$folder"
}

[ "$(id -u)" -eq 0 ] || leave_out "network namespaces need root"
for program in ip tc mpirun unshare taskset; do
  command -v "$program" >/dev/null || leave_out "$program is missing (Debian: iproute2 openmpi-bin util-linux)"
done
trap clean EXIT
for place in "${places[@]}"; do
  ip netns add "$place" 2>"$folder/why" || leave_out "no network namespace: $(cat "$folder/why")"
done
in_place() { ip netns exec "${places[$1]}" "${@:2}"; }

# connect_by_netem: fails if the kernel has no veth or no netem.
connect_by_netem() {
  ip link add "$device" netns "${places[0]}" type veth peer name "$device" netns "${places[1]}" || return 1
  for place in 0 1; do
    in_place $place tc qdisc add dev "$device" root netem delay ${delay_us}us rate ${rate_mbit}mbit && continue
    in_place 0 ip link delete "$device"
    return 1
  done
}

connect_by_tun() {
  : >"$folder/link"
  "$root/build/bin/crisol_slow_link" "${places[@]}" "$device" $delay_us $rate_mbit >"$folder/link" 2>&1 &
  link=$!
  while kill -0 $link 2>/dev/null; do
    ! grep -q ready "$folder/link" || return 0
    sleep 0.05
  done
  return 1
}

if connect_by_netem 2>"$folder/why"; then
  echo "network: veth with netem"
elif connect_by_tun; then
  echo "network: TUN devices with crisol_slow_link ($(tail -n 1 "$folder/why"))"
else
  leave_out "no slow network: $(tail -n 1 "$folder/why"); $(cat "$folder/link")"
fi
for place in 0 1; do
  in_place $place ip address add 10.213.7.$((place + 1))/30 dev "$device"
  in_place $place ip link set "$device" mtu 9000 up
  in_place $place ip link set lo up
done

# mpirun calls this for the second host. The rank there also has a host name of its own.
cat >"$folder/agent" <<END
#!/usr/bin/env bash
shift
exec ip netns exec ${places[1]} unshare --uts bash -c 'hostname crisol-b; exec bash -c "\$*"' bash "\$@"
END
# One half of the cores for each rank, with and without the slow network.
cat >"$folder/half" <<'END'
#!/usr/bin/env bash
cores=$(nproc) half=$((($(nproc) + 1) / 2))
if [ "$OMPI_COMM_WORLD_RANK" -eq 0 ]; then own=0-$((half - 1)); else own=$((cores - half))-$((cores - 1)); fi
exec taskset -c "$own" "$@"
END
chmod +x -- "$folder/agent" "$folder/half"
export OCL_ICD_VENDORS=$root/build/tests/icd/pocl CRISOL_CACHE_DIR=$root/build/tests/cache/dist CRISOL_TUNING=0 CRISOL_VERIFY=off
export POCL_CACHE_DIR=${POCL_CACHE_DIR:-$root/build/tests/pocl-cache}
slowly() {
  in_place 0 timeout --kill-after=5 600 mpirun --allow-run-as-root --bind-to none --host 10.213.7.1,10.213.7.2 -n 2 \
    --mca plm_rsh_agent "$folder/agent" --mca oob_tcp_if_include "$device" --mca btl_tcp_if_include "$device" \
    --mca pml ob1 --mca btl self,tcp "$folder/half" "$@" </dev/null
}
quickly() {
  timeout --kill-after=5 600 mpirun --allow-run-as-root --bind-to none --oversubscribe -n 2 "$folder/half" "$@" </dev/null
}

training=("$root/build/bin/text_lstm" train --steps 12 --batch 7 --window 8 --hidden 64 --layers 1 --validate-every 12
  --text "$root/LICENSE")
quickly "${training[@]}" --weights "$folder/quick" >"$folder/log" 2>&1 || { cat "$folder/log"; exit 1; }
slowly "${training[@]}" --weights "$folder/slow" >"$folder/log" 2>&1 || { cat "$folder/log"; exit 1; }
cmp -- "$folder/quick" "$folder/slow"
echo "the weights have the same bits"
# figures WHICH: of the JSON of crisol_dist_bench. all_reduce begins with a sum of 4 bytes: there and back.
figures() {
  local json
  json=$("$1" "$root/build/bin/crisol_dist_bench" "$model" "$batch")
  sed -n 's/.*"step_ms": \([0-9.]*\), "local_ms": \([0-9.]*\), "serial_ms": \([0-9.]*\), .*"hidden": \([-0-9.]*\).*/\1 ms a step, \2 ms without sums, \3 ms with sums after backward: share hidden \4/p' <<<"$json"
  sed -n 's/.*"all_reduce": \[\[4, \([0-9.]*\)\].*/  a sum of 4 bytes: \1 ms/p' <<<"$json"
}
model=${1:-lstm} batch=${2:-50}
echo "$model, batch $batch, without that network: $(figures quickly)"
echo "$model, batch $batch, with it: $(figures slowly)"
