#include "runtime/recorder.h"

#include <cstring>

#include "base/text.h"
#include "base/thread_context.h"
#include "runtime/command_buffer.h"
#include "runtime/device/device_state.h"
#include "runtime/verbose.h"

namespace crisol::runtime {

namespace {

Recorder*& current() noexcept { return thread_context().recorder; }

}  // namespace

std::shared_ptr<Recorder> begin_recording(DeviceState& device) { return std::make_shared<Recorder>(device); }
void end_recording(Recorder& recorder) noexcept { recorder.end(); }
const char* keep_in_command_buffer(Recorder& recorder) { return recorder.keep_in_command_buffer(); }
bool in_command_buffer(const Recorder& recorder) noexcept { return recorder.in_command_buffer(); }
std::size_t commands_of(const Recorder& recorder) noexcept { return recorder.size(); }
void replay(Recorder& recorder) { recorder.replay(); }

Recorder* current_recorder() noexcept { return current(); }

Recorder* recorder_of(const DeviceState& device) {
  Recorder* const recorder = current();
  if (recorder != nullptr)
    require(&recorder->device() == &device, "record", "work on ", device.info().name, " while ",
            recorder->device().info().name, " is recorded");
  return recorder;
}

void refuse_while_recording(const char* what) {
  require(current() == nullptr, "record", what, ", which a replay cannot repeat; do it before or after");
}

PauseRecording::PauseRecording() noexcept : paused_(current()) {
  current() = nullptr;
  ++thread_context().recording_pauses;
}
PauseRecording::~PauseRecording() {
  current() = paused_;
  --thread_context().recording_pauses;
}

bool recording_is_paused() noexcept { return thread_context().recording_pauses > 0; }

Recorder::Recorder(DeviceState& device) : device_(device) {
  require(current() == nullptr, "record", "this thread is recording already");
  current() = this;
}

Recorder::~Recorder() {
  end();
  buffer_.reset();
  commands_.clear();
  for (_cl_mem* memory : reserved_) device_.pool().release_reserved(memory);
}

void Recorder::end() noexcept {
  if (current() == this) current() = nullptr;
}

void Recorder::use(const Block& block) {
  if (!used_.insert(block.memory()).second) return;
  memory_.emplace_back(block.memory(), true);
  if (!block.pooled()) return;
  reserved_.push_back(block.memory());
  device_.pool().reserve(block.memory());
}

void Recorder::add_launch(const Kernel& kernel, const NdRange& range, const KernelArg* args, std::size_t count) {
  cl_int error = CL_SUCCESS;
  cl::Kernel own(kernel.program->handle, kernel.name.c_str(), &error);
  check_cl(error, "clCreateKernel");
  set_arguments(own(), kernel.name, args, count);
  for (std::size_t i = 0; i < count; ++i)
    if (args[i].kind() == KernelArg::Kind::view) use(*args[i].view().block);
  commands_.emplace_back(LaunchCommand{std::move(own), kernel.name, range});
}

void Recorder::add_fill(const Block& block, std::size_t offset, std::size_t size, const void* pattern,
                        std::size_t pattern_size) {
  use(block);
  FillCommand command{block.memory(), {}, pattern_size, offset, size};
  std::memcpy(command.pattern.data(), pattern, pattern_size);
  commands_.emplace_back(command);
}

void Recorder::add_copy(const Block& from, std::size_t from_offset, const Block& to, std::size_t to_offset,
                        std::size_t size) {
  use(from);
  use(to);
  commands_.emplace_back(CopyCommand{from.memory(), to.memory(), from_offset, to_offset, size});
}

const char* Recorder::keep_in_command_buffer() {
  if (commands_.empty()) return "there are no commands";
  return CommandBuffer::make(device_, commands_, buffer_);
}

void Recorder::run(const LaunchCommand& c) {
  const std::size_t* local = c.range.local[0] == 0 ? nullptr : c.range.local.data();
  const bool profiling = device_.profiler().active();
  cl_event event = nullptr;
  const cl_int error =
      clEnqueueNDRangeKernel(device_.queue(), c.kernel(), static_cast<cl_uint>(c.range.dimensions), nullptr,
                             c.range.global.data(), local, 0, nullptr, profiling ? &event : nullptr);
  if (error != CL_SUCCESS)
    fail(is_memory_error(error) ? ErrorCode::out_of_memory : ErrorCode::device_failure, "replay", c.name, ": ",
         cl_error_name(error), " (", error, ')');
  if (profiling) device_.profiler().record(c.name, cl::Event(event));
  device_.wait_if_blocking(c.name);
}

void Recorder::run(const FillCommand& c) {
  check_cl(clEnqueueFillBuffer(device_.queue(), c.memory, c.pattern.data(), c.pattern_size, c.offset, c.size, 0,
                               nullptr, nullptr),
           "clEnqueueFillBuffer");
}

void Recorder::run(const CopyCommand& c) {
  check_cl(clEnqueueCopyBuffer(device_.queue(), c.from, c.to, c.from_offset, c.to_offset, c.size, 0, nullptr, nullptr),
           "clEnqueueCopyBuffer");
}

void Recorder::replay() {
  const std::lock_guard lock(mutex_);
  // A profile needs an event for each kernel. It also uses another queue, and the buffer works only in its own queue.
  if (buffer_ != nullptr && !device_.profiler().active() && buffer_->queue() == device_.queue()) {
    buffer_->enqueue();
    return;
  }
  for (const Command& command : commands_) std::visit([this](const auto& c) { run(c); }, command);
}

}  // namespace crisol::runtime
