#include "runtime/clblast.h"

#ifdef CRISOL_CLBLAST
#include "runtime/cl.h"  // Chooses the version of OpenCL before CLBlast's header does.

#include <clblast_c.h>
#endif

#include <cstring>
#include <limits>
#include <mutex>

#include "base/system.h"
#include "base/text.h"
#include "runtime/capture/capturer.h"
#include "runtime/device/device_state.h"
#include "runtime/memory/block.h"
#include "runtime/op_scope.h"
#include "runtime/verbose.h"

namespace crisol::runtime {

namespace {

#ifdef CRISOL_CLBLAST

struct Functions {
  decltype(&CLBlastSgemm) gemm;
  decltype(&CLBlastSgemmStridedBatched) batched;
};

template <class Function>
void find(Function& function, const char* name) {
  function = reinterpret_cast<Function>(system::library_function(CRISOL_CLBLAST, name));
}

const Functions& functions() {
  static const Functions found = [] {
    Functions all{};
    find(all.gemm, "CLBlastSgemm");
    find(all.batched, "CLBlastSgemmStridedBatched");
    return all;
  }();
  return found;
}

CLBlastTranspose transpose_of(const ClblastMatrix& matrix) {
  return matrix.transposed != 0 ? CLBlastTransposeYes : CLBlastTransposeNo;
}

std::size_t size_of(std::int64_t value) { return static_cast<std::size_t>(value); }

// CLBlast's status. For errors of OpenCL it is OpenCL's code.
cl_int call_clblast(_cl_command_queue* queue, const ClblastCall& call, cl_event* event) {
  const ClblastProduct& p = call.product;
  const auto& [a, b, c] = p.matrices;
  const auto& [a_memory, b_memory, c_memory] = call.memory;
  const auto& [a_first, b_first, c_first] = call.offsets;
  const std::size_t m = size_of(p.m), n = size_of(p.n), k = size_of(p.k);
  const float beta = p.adds != 0 ? 1.0f : 0.0f;
  if (p.batch == 1)
    return functions().gemm(CLBlastLayoutRowMajor, transpose_of(a), transpose_of(b), m, n, k, 1.0f, a_memory, a_first,
                            size_of(a.leading), b_memory, b_first, size_of(b.leading), beta, c_memory, c_first,
                            size_of(c.leading), &queue, event);
  return functions().batched(CLBlastLayoutRowMajor, transpose_of(a), transpose_of(b), m, n, k, 1.0f, a_memory, a_first,
                             size_of(a.leading), size_of(a.batch), b_memory, b_first, size_of(b.leading),
                             size_of(b.batch), beta, c_memory, c_first, size_of(c.leading), size_of(c.batch),
                             size_of(p.batch), &queue, event);
}

#else

cl_int call_clblast(_cl_command_queue*, const ClblastCall&, cl_event*) { return CL_INVALID_OPERATION; }

#endif

std::string sizes_of(const ClblastProduct& p) { return concat(p.batch, " x ", p.m, " x ", p.n, " x ", p.k); }

}  // namespace

const char* against_clblast() {
#ifdef CRISOL_CLBLAST
  const bool is_there = functions().gemm != nullptr && functions().batched != nullptr;
  return is_there ? nullptr : "the library " CRISOL_CLBLAST " is not installed, or cannot be loaded";
#else
  return "this crisol was built without CLBlast (CRISOL_WITH_CLBLAST)";
#endif
}

void run_clblast(DeviceState& device, const ClblastCall& call) {
  // CLBlast fills its list of parameters in the first call, without a lock, so two first calls at once crash. The mutex
  // is never destroyed, because other threads may still work when the process ends.
  static std::mutex& one_at_a_time = *new std::mutex;
  _cl_command_queue* const queue = device.queue();
  CommandTimer timer(device, "kernel");
  cl_int status = CL_SUCCESS;
  {
    const std::lock_guard lock(one_at_a_time);
    status = device.run_with_memory([&] { return call_clblast(queue, call, timer.event()); });
  }
  if (status != CL_SUCCESS)
    fail(is_memory_error(status) ? ErrorCode::out_of_memory : ErrorCode::device_failure, "launch",
         "CLBlast failed with status ", status, " (", cl_error_name(status), ") for ", sizes_of(call.product));
  timer.queued("clblast");
  device.wait_if_blocking("clblast");
}

void enqueue_clblast(DeviceState& device, std::span<const KernelArg> args) {
  ClblastCall call{};
  std::memcpy(&call.product, args[3].data(), sizeof call.product);
  std::array<const Block*, 3> blocks{};
  for (std::size_t i = 0; i < 3; ++i) {
    const BufferView& view = args[i].view();
    require(view.offset <= std::uint64_t{std::numeric_limits<std::int32_t>::max()} / 2, "matmul",
            "CLBlast counts elements in 32 bits, and an operand begins at element ", view.offset,
            " of its memory; CRISOL_VARIANT=matmul:-clblast chooses another variant");
    blocks[i] = view.block;
    call.memory[i] = view.block->memory();
    call.offsets[i] = view.offset;
  }
  if (verbose(Topic::launch)) log_line("launch clblast " + sizes_of(call.product));
  Capturer* const capturer = capturer_of(device);
  if (capturer == nullptr || !capturer->plans_memory()) run_clblast(device, call);
  if (capturer != nullptr) capturer->add_clblast(call, blocks);
  name_block(*blocks[2], current_op() == nullptr ? "clblast" : current_op());
}

}  // namespace crisol::runtime
