#include "runtime/capture/capturer.h"

#include <cstring>

#include "base/text.h"
#include "base/thread_context.h"
#include "runtime/capture/command_buffer.h"
#include "runtime/device/device_state.h"
#include "runtime/verbose.h"

namespace crisol::runtime {

namespace {

Capturer*& current() noexcept { return thread_context().capturer; }

}  // namespace

std::shared_ptr<Capturer> begin_capture(DeviceState& device) { return std::make_shared<Capturer>(device); }
void end_capture(Capturer& capturer) noexcept { capturer.end(); }
const char* keep_in_command_buffer(Capturer& capturer) { return capturer.keep_in_command_buffer(); }
bool in_command_buffer(const Capturer& capturer) noexcept { return capturer.in_command_buffer(); }
std::size_t commands_of(const Capturer& capturer) noexcept { return capturer.size(); }
void replay(Capturer& capturer) { capturer.replay(); }
void add_call(Capturer& capturer, std::function<void(std::exception_ptr error)> function) {
  capturer.add_call(std::move(function));
}

Capturer* current_capturer() noexcept { return current(); }

Capturer* capturer_of(const DeviceState& device) {
  Capturer* const capturer = current();
  if (capturer != nullptr)
    require(&capturer->device() == &device, "capture", "work on ", device.info().name, " while ",
            capturer->device().info().name, " is captured");
  return capturer;
}

void check_not_capturing(const char* what) {
  require(current() == nullptr, "capture", what, ", which a replay cannot repeat; do it before or after");
}

PauseCapture::PauseCapture(bool pauses) noexcept
    : pauses_(pauses), paused_(current()), uses_(thread_context().captured_uses), dry_run_(thread_context().dry_run) {
  if (!pauses_) return;
  current() = nullptr;
  thread_context().captured_uses = nullptr;
  thread_context().dry_run = nullptr;
  ++thread_context().capture_pauses;
}
PauseCapture::~PauseCapture() {
  if (!pauses_) return;
  current() = paused_;
  thread_context().captured_uses = uses_;
  thread_context().dry_run = dry_run_;
  --thread_context().capture_pauses;
}

bool capture_is_paused() noexcept { return thread_context().capture_pauses > 0; }

namespace {

std::uint64_t next_number() noexcept {
  static std::atomic<std::uint64_t> last = 0;
  return ++last;
}

}  // namespace

Capturer::Capturer(DeviceState& device) : device_(device), number_(next_number()), parts_(1) {
  require(current() == nullptr, "capture", "this thread is capturing already");
  current() = this;
}

Capturer::~Capturer() {
  end();
  if (system::forked()) {  // Here, releasing these objects might wait for a thread of the driver.
    static_cast<void>(new std::vector<CapturedPart>(std::move(parts_)));
    static_cast<void>(new std::vector<cl::Memory>(std::move(memory_)));
    return;
  }
  parts_.clear();
  for (_cl_mem* memory : reserved_) device_.pool().release_reserved(memory);
}

void Capturer::end() noexcept {
  if (current() == this) current() = nullptr;
}

void Capturer::use(const Block& block) {
  if (!used_.insert(block.memory()).second) return;
  memory_.emplace_back(block.memory(), true);
  may_fault_ = may_fault_ || device_.fault_flag().owns(block);
  if (!block.from_pool()) return;
  reserved_.push_back(block.memory());
  device_.pool().reserve(block.memory());
}

void Capturer::add_launch(const BuiltKernel& kernel, const NdRange& range, const KernelArg* args, std::size_t count) {
  cl::Kernel own = device_.programs().make_captured(kernel);
  std::vector<unsigned char> none;
  set_arguments(own(), kernel.name, args, count, none);
  for (std::size_t i = 0; i < count; ++i)
    if (args[i].kind() == KernelArg::Kind::view) use(*args[i].view().block);
  add(LaunchCommand{std::move(own), kernel.name, range});
}

void Capturer::add_fill(const Block& block, std::size_t offset, std::size_t size, const void* pattern,
                        std::size_t pattern_size) {
  use(block);
  FillCommand command{block.memory(), {}, pattern_size, offset, size};
  std::memcpy(command.pattern.data(), pattern, pattern_size);
  add(command);
}

void Capturer::add_copy(const Block& from, std::size_t from_offset, const Block& to, std::size_t to_offset,
                        std::size_t size) {
  use(from);
  use(to);
  add(CopyCommand{from.memory(), to.memory(), from_offset, to_offset, size});
}

void Capturer::add_call(std::function<void(std::exception_ptr error)> function) {
  parts_.back().call = std::move(function);
  parts_.emplace_back();
}

std::size_t Capturer::size() const noexcept {
  std::size_t commands = 0;
  for (const CapturedPart& part : parts_) commands += part.commands.size();
  return commands;
}

const char* Capturer::keep_in_command_buffer() {
  if (size() == 0) return "there are no commands";
  for (CapturedPart& part : parts_) {
    if (part.commands.empty()) continue;
    if (const char* const why_not = CommandBuffer::make(device_, part.commands, part.buffer)) return why_not;
  }
  in_command_buffer_ = true;
  return nullptr;
}

void Capturer::run(const LaunchCommand& c) {
  const std::size_t* local = c.range.local[0] == 0 ? nullptr : c.range.local.data();
  CommandTimer timer(device_, "kernel");
  const cl_int error = clEnqueueNDRangeKernel(device_.queue(), c.kernel(), static_cast<cl_uint>(c.range.dimensions),
                                              nullptr, c.range.global.data(), local, 0, nullptr, timer.event());
  if (error != CL_SUCCESS)
    fail(is_memory_error(error) ? ErrorCode::out_of_memory : ErrorCode::device_failure, "replay", c.name, ": ",
         cl_error_name(error), " (", error, ')');
  timer.queued(c.name);
  device_.wait_if_blocking(c.name);
}

void Capturer::run(const FillCommand& c) {
  CommandTimer timer(device_, "fill");
  check_cl(clEnqueueFillBuffer(device_.queue(), c.memory, c.pattern.data(), c.pattern_size, c.offset, c.size, 0,
                               nullptr, timer.event()),
           "clEnqueueFillBuffer");
  timer.queued("fill", c.size);
}

void Capturer::run(const CopyCommand& c) {
  CommandTimer timer(device_, "copy");
  check_cl(
      clEnqueueCopyBuffer(device_.queue(), c.from, c.to, c.from_offset, c.to_offset, c.size, 0, nullptr, timer.event()),
      "clEnqueueCopyBuffer");
  timer.queued("copy", c.size);
}

void Capturer::queue(CapturedPart& part) {
  // A profile and a timeline need an event for each kernel. They also use another queue, and the buffer works only in
  // its own queue.
  if (part.buffer != nullptr && !device_.profiler().active() && part.buffer->queue() == device_.queue())
    part.buffer->enqueue();
  else
    for (const Command& command : part.commands) std::visit([this](const auto& c) { run(c); }, command);
  if (part.call) part.call(nullptr);
}

void Capturer::replay() {
  const std::lock_guard lock(mutex_);
  TraceSlice slice("replay", "replay");
  slice.note("commands", std::uint64_t{size()});
  try {
    for (CapturedPart& part : parts_) queue(part);
  } catch (...) {
    for (const CapturedPart& part : parts_)
      if (part.call) part.call(std::current_exception());
    throw;
  }
  if (may_fault_) device_.fault_flag().expect();
}

}  // namespace crisol::runtime
