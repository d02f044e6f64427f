#include "runtime/launch.h"

#include <algorithm>
#include <chrono>
#include <cstdlib>
#include <cstring>

#include "base/text.h"
#include "runtime/capture/capturer.h"
#include "runtime/device/device_state.h"
#include "runtime/dry_run.h"
#include "runtime/memory/block.h"
#include "runtime/op_scope.h"
#include "runtime/verbose.h"

namespace crisol::runtime {

Defines::Defines(std::initializer_list<Define> defines) {
  for (const Define& define : defines) add(define);
}

void Defines::add(const Define& define) {
  require(count_ < max_count, "launch", "more than ", max_count, " defines");
  list_[count_++] = define;
}

NdRange::NdRange(std::initializer_list<std::int64_t> global_size, std::initializer_list<std::int64_t> local_size)
    : dimensions(static_cast<int>(global_size.size())) {
  std::copy(global_size.begin(), global_size.end(), global.begin());
  std::copy(local_size.begin(), local_size.end(), local.begin());
}

void require_kernel_axes(const Shape& shape) {
  const char* const op = current_op();
  require(shape.rank() <= kernel_axes, op != nullptr ? op : "launch", "shape ", shape, " has ", shape.rank(),
          " axes that cannot be merged, at most ", kernel_axes, " are allowed");
}

KernelArg::KernelArg(const Shape& shape, int lanes) : size_(static_cast<std::size_t>(lanes) * 8) {
  require_kernel_axes(shape);
  bytes_.fill(0);
  std::copy(shape.begin(), shape.end(), reinterpret_cast<std::int64_t*>(bytes_.data()));
}

void set_arguments(_cl_kernel* kernel, const std::string& name, const KernelArg* args, std::size_t count,
                   std::vector<unsigned char>& known) {
  cl_uint index = 0;
  const auto set = [&](std::size_t size, const void* data) {
    const cl_int error = clSetKernelArg(kernel, index, size, data);
    if (error != CL_SUCCESS)
      fail(ErrorCode::device_failure, "launch", name, ": argument ", index, " of ", size,
           " bytes: ", cl_error_name(error));
    ++index;
  };
  std::size_t at = 0;
  const auto set_value = [&](std::size_t size, const void* data) {
    const bool kept = at + size <= known.size();
    if (kept && std::memcmp(known.data() + at, data, size) == 0) {
      ++index;
    } else {
      set(size, data);
      if (!kept) known.resize(at + size);
      std::memcpy(known.data() + at, data, size);
    }
    at += size;
  };
  for (std::size_t i = 0; i < count; ++i) {
    const KernelArg& arg = args[i];
    if (arg.kind() == KernelArg::Kind::value) {
      set_value(arg.size(), arg.data());
      continue;
    }
    _cl_mem* const memory = arg.view().block->memory();
    // A capture that plans memory sets these arguments when it ends.
    if (memory == nullptr && current_capturer() == nullptr)
      fail(ErrorCode::device_failure, "launch", name, ": argument ", index, " has no memory yet");
    set(sizeof(cl_mem), &memory);
    set_value(sizeof(cl_ulong), &arg.view().offset);
  }
}

namespace {

// Notes that the program now holds code for this kernel and local size. The program's stored binary may lack this code.
// Returns true if the code is new.
bool note_run(BuiltKernel& kernel, const NdRange& range) {
  if (kernel.launched && kernel.warmed_local == range.local) return false;
  kernel.launched = true;
  kernel.warmed_local = range.local;
  const std::string run = concat(kernel.name, ' ', range.local[0], ' ', range.local[1], ' ', range.local[2]);
  Program& program = *kernel.program;
  const std::lock_guard lock(program.mutex);
  if (std::find(program.warmed.begin(), program.warmed.end(), run) != program.warmed.end()) return false;
  program.warmed.push_back(run);
  program.unsaved = true;
  return true;
}

// An operand without a name was just allocated, so this op makes its contents.
void name_blocks(const BuiltKernel& kernel, const KernelArg* args, std::size_t count) noexcept {
  const char* const op = current_op() == nullptr ? kernel.name.c_str() : current_op();
  for (std::size_t i = 0; i < count; ++i)
    if (args[i].kind() == KernelArg::Kind::view) name_block(*args[i].view().block, op);
}

// Captures without running. The first replay runs the kernel soon.
void capture_only(Capturer& capturer, BuiltKernel& kernel, const NdRange& range, const KernelArg* args,
                  std::size_t count) {
  {
    const std::lock_guard lock(kernel.mutex);
    if (note_run(kernel, range)) {
      capturer.device().programs().note_unsaved();
      capturer.note_new_code();
    }
  }
  capturer.add_launch(kernel, range, args, count);
  name_blocks(kernel, args, count);
}

void log_launch(const BuiltKernel& kernel, const NdRange& range) {
  std::string text = "launch " + kernel.name;
  for (int d = 0; d < range.dimensions; ++d)
    text += concat(d == 0 ? " global " : "x", range.global[static_cast<std::size_t>(d)]);
  for (int d = 0; d < range.dimensions; ++d)
    text += concat(d == 0 ? " local " : "x", range.local[static_cast<std::size_t>(d)]);
  log_line(text);
}

}  // namespace

BuiltKernel& resolve(DeviceState& device, const KernelSpec& spec) { return device.programs().resolve(spec); }

void enqueue(DeviceState& device, BuiltKernel& kernel, const NdRange& range, const KernelArg* args, std::size_t count) {
  for (int d = 0; d < range.dimensions; ++d)
    if (range.global[static_cast<std::size_t>(d)] == 0) return;
  if (in_dry_run()) return;
  if (verbose(Topic::launch)) log_launch(kernel, range);
  Capturer* capturer = capturer_of(device);
  if (capturer != nullptr && capturer->plans_memory()) {
    capture_only(*capturer, kernel, range, args, count);
    return;
  }
  _cl_command_queue* const queue = device.queue();
  const std::size_t* local = range.local[0] == 0 ? nullptr : range.local.data();
  CommandTimer timer(device, "kernel");
  cl_int error = CL_SUCCESS;
  bool first = false;
  const bool timed = verbose(Topic::build);
  const auto start = timed ? std::chrono::steady_clock::now() : std::chrono::steady_clock::time_point();
  {
    const std::lock_guard lock(kernel.mutex);
    device.programs().load_again(kernel);
    set_arguments(kernel.handle(), kernel.name, args, count, kernel.values);
    error = device.run_with_memory([&] {
      return clEnqueueNDRangeKernel(queue, kernel.handle(), static_cast<cl_uint>(range.dimensions), nullptr,
                                    range.global.data(), local, 0, nullptr, timer.event());
    });
    if (error == CL_SUCCESS) first = note_run(kernel, range);
    if (first) device.programs().note_unsaved();
  }
  if (error != CL_SUCCESS)
    fail(is_memory_error(error) ? ErrorCode::out_of_memory : ErrorCode::device_failure, "launch", kernel.name, ": ",
         cl_error_name(error), " (", error, ')');
  if (capturer != nullptr) capturer->add_launch(kernel, range, args, count);
  if (first && timed) {  // Some implementations compile a kernel at its first run.
    device.finish();
    log(Topic::build, "first run of ", kernel.name, " in ", milliseconds_since(start), " ms");
  }
  name_blocks(kernel, args, count);
  timer.queued(kernel.name);
  device.wait_if_blocking(kernel.name);
}

const DeviceInfo& info_of(const DeviceState& device) noexcept { return device.info(); }

NdRange flat_range(const DeviceInfo& info, std::int64_t count) {
  // A GPU starts about one group each clock cycle, and in this time its memory moves 2 KB. So small groups would limit
  // the speed of large copies. With few items, small groups spread them over all compute units.
  const bool many = info.type == DeviceType::gpu && count >= std::int64_t{2048} * info.compute_units;
  const auto local = static_cast<std::int64_t>(std::min<std::uint64_t>(many ? 256 : 64, info.max_work_group));
  return {{(count + local - 1) / local * local}, {local}};
}

int vector_width(const DeviceState& device) noexcept {
  static const int forced = std::atoi(environment("CRISOL_VECTOR_WIDTH").c_str());
  const int wanted = forced > 0 ? forced : device.info().native_float_width;
  int width = 16;
  while (width > wanted && width > 1) width /= 2;
  return width;
}

}  // namespace crisol::runtime
