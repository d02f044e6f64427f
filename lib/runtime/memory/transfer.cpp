#include "runtime/memory/transfer.h"

#include <array>
#include <bit>
#include <cstring>
#include <utility>

#include "runtime/capture/capturer.h"
#include "runtime/device/device_state.h"
#include "runtime/dry_run.h"
#include "runtime/launch.h"
#include "runtime/memory/block.h"
#include "runtime/memory/host_memory.h"
#include "runtime/op_scope.h"

namespace crisol::runtime {

namespace {

// Above this size, a copy into a staging area takes longer than waiting for the queue.
constexpr std::size_t max_staged = std::size_t{8} << 20;

/// A write of the host's values. It lives from the call to its return. Throws while the thread captures.
class HostWrite {
 public:
  HostWrite(Block& block, std::size_t size, const char* slice = "upload")
      : device(begin(block)), slice_("transfer", slice) {
    slice_.note("bytes", std::uint64_t{size});
  }

  DeviceState& device;

 private:
  static DeviceState& begin(Block& block) {
    check_not_capturing("values of the host's are written to a tensor");
    name_block(block, "from the host");
    note_values(block);
    return block.device();
  }

  TimelineSlice slice_;
};

}  // namespace

void write_now(Block& block, std::uint64_t offset, const void* bytes, std::size_t size) {
  if (size == 0) return;
  const HostWrite host_write(block, size);
  DeviceState& device = host_write.device;
  CommandTimer timer(device, "upload");
  check_cl(
      clEnqueueWriteBuffer(device.queue(), block.memory(), CL_TRUE, offset, size, bytes, 0, nullptr, timer.event()),
      "clEnqueueWriteBuffer");
  timer.queued("upload", size);
}

void write(Block& block, std::uint64_t offset, const void* bytes, std::size_t size) {
  if (size > max_staged) return write_now(block, offset, bytes, size);
  if (size == 0) return;
  const HostWrite host_write(block, size);
  DeviceState& device = host_write.device;
  CommandTimer timer(device, "upload");
  DeviceState::HostBytes staged = device.staging(size);
  std::memcpy(staged.bytes.get(), bytes, size);
  cl_event event = nullptr;
  check_cl(clEnqueueWriteBuffer(device.queue(), block.memory(), CL_FALSE, offset, size, staged.bytes.get(), 0, nullptr,
                                &event),
           "clEnqueueWriteBuffer");
  const cl::Event written(event);
  device.keep_until(written, std::move(staged));
  timer.queued("upload", size, written);
}

BlockPtr copy_to_new_block(DeviceState& device, const void* bytes, std::size_t size, const Shape& shape, DType dtype) {
  constexpr std::size_t least = 4096;
  const bool may_be_direct = size >= least && !device.profiler().active() && device.computes_in_host_memory();
  const BlockPtr idle = may_be_direct ? device.pool().allocate_idle(size, {shape, dtype, true}) : nullptr;
  if (std::byte* const elements = idle == nullptr ? nullptr : host_address(*idle)) {
    const HostWrite host_write(*idle, size, "copy to idle memory");
    std::memcpy(elements, bytes, size);
    return idle;
  }
  BlockPtr block = allocate(device, size, shape, dtype);
  write(*block, 0, bytes, size);
  return block;
}

void write_beside(Block& block, std::uint64_t offset, std::unique_ptr<std::byte[]> bytes, std::size_t size) {
  if (size == 0) return;
  const HostWrite host_write(block, size, "upload beside");
  DeviceState& device = host_write.device;
  CommandTimer timer(device, "upload", transfer_queue_row);
  // The pool may have given out the block while work of its previous user is still queued. So the write waits for all
  // work that is queued now.
  cl_event queued = nullptr, written = nullptr;
  check_cl(clEnqueueMarkerWithWaitList(device.queue(), 0, nullptr, &queued), "clEnqueueMarkerWithWaitList");
  const cl::Event after(queued);
  check_cl(clFlush(device.queue()), "clFlush");
  check_cl(clEnqueueWriteBuffer(device.transfer_queue(), block.memory(), CL_FALSE, offset, size, bytes.get(), 1,
                                &queued, &written),
           "clEnqueueWriteBuffer");
  const cl::Event written_event(written);
  device.keep_until(written_event, {std::move(bytes), 0});
  timer.queued("upload", size, written_event);
  try {
    check_cl(clFlush(device.transfer_queue()), "clFlush");
    check_cl(clEnqueueBarrierWithWaitList(device.queue(), 1, &written, nullptr), "clEnqueueBarrierWithWaitList");
  } catch (...) {
    clFinish(device.transfer_queue());  // Nothing may write to the block later, because it goes back to the pool.
    throw;
  }
}

void read(const Block& block, std::uint64_t offset, void* bytes, std::size_t size) {
  check_not_capturing("the host reads the values of a tensor");
  check_has_values(block);
  DeviceState& device = block.device();
  TimelineSlice slice("transfer", "download");
  slice.note("bytes", std::uint64_t{size});
  std::unique_ptr<FaultFlag::Words> fault;
  if (size != 0) {
    fault = device.fault_flag().begin_read();
    device.programs().progress().wait_for_first_runs(device.queue());
    CommandTimer timer(device, "download");
    // In clFinish, Intel's CPU runtime lets the calling thread compute too. In a blocking read the thread only waits.
    // With two cores, MiniLM then took 9.9 ms instead of 5.4 ms.
    const bool finishes = device.info().type == DeviceType::cpu;
    const std::uint64_t wait = finishes ? device.pool().begin_wait() : 0;
    const cl_int finished = finishes ? clFinish(device.queue()) : CL_SUCCESS;
    if (finishes && finished == CL_SUCCESS) device.pool().end_wait(wait);
    // A copy by the driver means that two threads wait for each other once more. A profile has a row for it.
    const std::byte* const elements =
        finished == CL_SUCCESS && timer.event() == nullptr ? host_address(block) : nullptr;
    cl_int error = finished;
    if (elements == nullptr && finished == CL_SUCCESS)
      error =
          clEnqueueReadBuffer(device.queue(), block.memory(), CL_TRUE, offset, size, bytes, 0, nullptr, timer.event());
    else if (elements != nullptr && elements + offset != bytes)
      std::memcpy(bytes, elements + offset, size);
    if (error != CL_SUCCESS && fault != nullptr) device.fault_flag().abandon(std::exchange(fault, nullptr));
    check_cl(error, finished != CL_SUCCESS ? "clFinish" : "clEnqueueReadBuffer");
    timer.queued("download", size);
    // The events of timed commands hold memory of the driver.
    if (device.profiler().in_timeline()) device.profiler().drain(device.index());
  }
  device.programs().store_unsaved();
  if (fault != nullptr) device.fault_flag().check(std::move(fault));
}

void copy(const Block& from, std::uint64_t from_offset, const Block& to, std::uint64_t to_offset, std::size_t size) {
  if (size == 0 || in_dry_run()) return;
  const OpScope scope("copy");
  const TimelineSlice slice("op", "copy");
  name_block(to, "copy");
  Capturer* const capturer = capturer_of(to.device());
  if (capturer != nullptr) capturer->add_copy(from, from_offset, to, to_offset, size);
  if (capturer != nullptr && capturer->plans_memory()) return;
  CommandTimer timer(to.device(), "copy");
  check_cl(clEnqueueCopyBuffer(to.device().queue(), from.memory(), to.memory(), from_offset, to_offset, size, 0,
                               nullptr, timer.event()),
           "clEnqueueCopyBuffer");
  timer.queued("copy", size);
}

namespace {

// clEnqueueFillBuffer is used only for a few bytes, because it is slow or fails for many. PoCL fills 14 GB/s and
// Intel's CPU runtime 1.5 GB/s, where a kernel writes 60 GB/s. NVIDIA's driver hangs or breaks a later call from 2 GiB
// on (github.com/inducer/pyopencl/issues/395).
constexpr std::size_t min_filled_by_kernel = std::size_t{1} << 14;
// On CPUs the driver fills the first bytes of a process, because the kernel takes 60 ms to compile.
constexpr std::uint64_t filled_before_kernel = std::uint64_t{32} << 20;

// Queues a kernel that fills whole words of 8 bytes. Returns the number of bytes that it fills.
std::size_t fill_words(Block& block, std::uint64_t offset, std::size_t size, const void* pattern,
                       std::size_t pattern_size) {
  DeviceState& device = block.device();
  if (size < min_filled_by_kernel || offset % 8 != 0) return 0;
  const bool is_cpu = device.info().type == DeviceType::cpu;
  if (is_cpu && capturer_of(device) == nullptr && device.add_filled(size) <= filled_before_kernel) return 0;
  std::array<std::byte, 8> bytes;
  for (std::size_t i = 0; i < 8; i += pattern_size) std::memcpy(bytes.data() + i, pattern, pattern_size);
  const auto words = static_cast<std::int64_t>(size / 8);
  const BufferView to{&block, offset / 8};
  const auto value = std::bit_cast<std::uint64_t>(bytes);
  if (is_cpu) {
    constexpr std::int64_t chunk = 4096;
    launch(device, {"runtime/fill.cl", "fill_words"}, {{(words + chunk - 1) / chunk}, {1}}, to, value, words, chunk);
  } else {
    launch(device, {"runtime/fill.cl", "fill_places"}, flat_range(device, words), to, value, words);
  }
  return size / 8 * 8;
}

}  // namespace

void fill(Block& block, std::uint64_t offset, std::size_t size, const void* pattern, std::size_t pattern_size) {
  if (in_dry_run()) return;
  const OpScope scope("fill");
  const TimelineSlice slice("op", "fill");
  name_block(block, "fill");
  const std::size_t filled = fill_words(block, offset, size, pattern, pattern_size);
  if (size == filled) return;
  Capturer* const capturer = capturer_of(block.device());
  if (capturer != nullptr) capturer->add_fill(block, offset + filled, size - filled, pattern, pattern_size);
  if (capturer != nullptr && capturer->plans_memory()) return;
  CommandTimer timer(block.device(), "fill");
  check_cl(clEnqueueFillBuffer(block.device().queue(), block.memory(), pattern, pattern_size, offset + filled,
                               size - filled, 0, nullptr, timer.event()),
           "clEnqueueFillBuffer");
  timer.queued("fill", size - filled);
}

void finish(DeviceState& device) { device.finish(); }

}  // namespace crisol::runtime
