// A recurrent layer of few hidden units on GPUs in one launch that reads the recurrent weights once: rnn_resident.cl.
#include <algorithm>

#include "base/ceil_div.h"
#include "dispatch/gpu_model.h"
#include "dispatch/gpu_variant.h"
#include "ops/product/gemm.h"
#include "ops/rnn/rnn_group.h"
#include "tensor/kernel_args.h"

namespace crisol::ops {

namespace {

// Registers of an item beside its weights and, for each row, four sums.
constexpr std::int64_t other_registers = 36;
// Weights of an item: the most, beyond which compilers moved some to memory; so many that a work-group of more than the
// usual items is better; so few that more slices would only be more sums to add.
constexpr std::int64_t most_weights = 192, many_weights = 96, few_weights = 32, usual_items = 256;
// What an Intel multiprocessor runs at once for certain, in sub-groups of eight.
constexpr std::int64_t most_items = 512;

/// UNITS, SLICES and ROWS of rnn_resident.cl.
struct Cut {
  std::int64_t gates, units, slices = 0, rows = 0;

  std::int64_t items() const { return gates * units / 4 * slices; }
  std::int64_t weights() const { return 4 * units / slices; }
  std::int64_t local_bytes() const { return 4 * rows * gates * units * (slices + 1); }
};

bool fits(const Cut& cut, const DeviceInfo& info) {
  const std::int64_t registers = registers_of_item(info, cut.items());
  const std::int64_t weights = std::min(most_weights, registers - other_registers - 4 * cut.rows);
  const std::int64_t items = std::min(most_items, static_cast<std::int64_t>(info.max_work_group));
  return cut.items() <= items && cut.weights() <= weights &&
         cut.local_bytes() <= static_cast<std::int64_t>(info.local_memory);
}

// As many rows as there are for each multiprocessor, of those that the items can take through their cells. Without
// slices where nothing fits.
Cut cut_weights(const RnnSizes& s, const DeviceInfo& info) {
  const std::int64_t gates = s.kind().gates, units = ceil_div(s.hidden, 16) * 16;
  Cut best{gates, units};
  for (std::int64_t slices = ceil_div(4, gates); 4 * slices <= units; ++slices) {
    const Cut cut{gates, units, slices, 1};
    if (units % (4 * slices) != 0 || !fits(cut, info)) continue;
    const std::int64_t enough = cut.items() > usual_items ? many_weights : few_weights;
    if (best.slices != 0 && best.weights() <= enough) break;
    best = cut;
  }
  std::int64_t most_rows = std::min<std::int64_t>(4, gates * best.slices / 4);
  const double of_multiprocessor = static_cast<double>(s.batch) / multiprocessors_of(info);
  if (!takes_cpu_kernels(info))  // There, in tests, one program serves all batches.
    most_rows = std::min(most_rows, 1 + static_cast<std::int64_t>(of_multiprocessor));
  for (Cut more = best; more.rows < most_rows; best = more) {
    ++more.rows;
    if (!fits(more, info)) break;
  }
  return best;
}

const char* refuse(const char* op, const RnnSizes& s, bool projected, const DeviceInfo& info) {
  if (const char* reason = refuse_off_gpu(op, "resident", info)) return reason;
  const Cut cut = cut_weights(s, info);
  if (cut.slices == 0) return "a work-group's registers do not hold the recurrent weights";
  return refuse_rnn_rows(s, projected, cut.rows * cut.weights() + 4 * cut.gates * cut.slices + 64, info);
}

struct Launch {
  runtime::Kernel& kernel;
  runtime::NdRange range;
};

/// `outputs`: of a hidden unit, that items beside each other compute.
Launch launch_of(runtime::DeviceState& device, const RnnSizes& s, const char* entry, std::int64_t outputs) {
  const DeviceInfo& info = runtime::info_of(device);
  const Cut cut = cut_weights(s, info);
  runtime::Defines defines{{"UNITS", cut.units}, {"SLICES", cut.slices}, {"ROWS", cut.rows}};
  if (takes_cpu_kernels(info)) defines.add({"ROLLED", 1});
  const std::int64_t groups = ceil_div(s.batch, cut.rows);
  const std::int64_t width = outputs * cut.units / 4, height = cut.items() / width;
  return {rnn_kernel(device, s.cell, "rnn/rnn_resident.cl", entry, defines),
          {{groups * width, height}, {width, height}}};
}

}  // namespace

const char* refuse_rnn_forward_resident(const RnnForward& p, const DeviceInfo& info) {
  return refuse("rnn_forward", p.sizes, p.projected.defined(), info);
}

void run_rnn_forward_resident(const RnnForward& p) {
  const Launch launch = launch_of(state_of(p.gates), p.sizes, "rnn_resident_forward", p.sizes.kind().gates);
  launch_rnn_forward(p, launch.kernel, launch.range, p.weight_hh);
}

const char* refuse_rnn_backward_resident(const RnnBackward& p, const DeviceInfo& info) {
  return refuse("rnn_backward", p.sizes, p.dprojected.defined(), info);
}

void run_rnn_backward_resident(const RnnBackward& p) {
  const Launch launch = launch_of(state_of(p.dinput), p.sizes, "rnn_resident_backward", 1);
  launch_rnn_backward(p, launch.kernel, launch.range, p.weight_hh);
}

}  // namespace crisol::ops
