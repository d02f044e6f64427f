#include "runtime/capture/capturer.h"

#include <algorithm>
#include <cstring>
#include <map>
#include <tuple>

#include "base/text.h"
#include "base/thread_context.h"
#include "runtime/capture/command_buffer.h"
#include "runtime/device/device_state.h"
#include "runtime/memory/placement.h"
#include "runtime/verbose.h"

namespace crisol::runtime {

namespace {

constexpr std::uint64_t min_alignment = 512;  // In bytes: at least a cache line and the width of all vectors.

Capturer*& current() noexcept { return thread_context().submission.capturer; }

}  // namespace

std::shared_ptr<Capturer> begin_capture(DeviceState& device, FirstRun first_run) {
  return std::make_shared<Capturer>(device, first_run);
}
void end_capture(Capturer& capturer) noexcept { capturer.end(); }
void place_memory(Capturer& capturer) { capturer.place_memory(); }
const char* keep_in_command_buffer(Capturer& capturer) { return capturer.keep_in_command_buffer(); }
bool in_command_buffer(const Capturer& capturer) noexcept { return capturer.in_command_buffer(); }
std::size_t commands_of(const Capturer& capturer) noexcept { return capturer.size(); }
std::size_t new_code_in(const Capturer& capturer) noexcept { return capturer.new_code(); }
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

PauseCapture::PauseCapture(bool pauses) noexcept : pauses_(pauses), before_(thread_context().submission) {
  if (pauses_) thread_context().submission = {nullptr, nullptr, nullptr, before_.pauses + 1};
}
PauseCapture::~PauseCapture() {
  if (pauses_) thread_context().submission = before_;
}

bool capture_is_paused() noexcept { return thread_context().submission.pauses > 0; }

namespace {

std::uint64_t next_number() noexcept {
  static std::atomic<std::uint64_t> last = 0;
  return ++last;
}

}  // namespace

Capturer::Capturer(DeviceState& device, FirstRun first_run)
    : device_(device), first_run_(first_run), number_(next_number()), parts_(1) {
  require(current() == nullptr, "capture", "this thread is capturing already");
  current() = this;
}

Capturer::~Capturer() {
  end();
  if (system::forked()) {  // In a child of fork(), releasing these objects might wait for a thread of the driver.
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

void Capturer::plan(const std::shared_ptr<PooledBlock>& block) {
  planned_.push_back({block, block->bytes()});
  block->planned_ = planned_.size();
}

void Capturer::use(const Block& block, cl_uint place) {
  if (!is_planned(block)) {
    keep(block);
    if (plans_memory()) uses_.push_back({parts_.size() - 1, parts_.back().commands.size(), place, 0, block.memory()});
    return;
  }
  const std::size_t index = static_cast<const PooledBlock&>(block).planned_ - 1, command = size();
  Planned& planned = planned_[index];
  if (planned.uses++ == 0) planned.first = command;
  planned.last = command;
  uses_.push_back({parts_.size() - 1, parts_.back().commands.size(), place, index, nullptr});
}

void Capturer::keep(const Block& block) {
  if (!plans_memory()) block.set_captured();  // Not for a planned capture: its owner makes it anew when memory changes.
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
  cl_uint place = 0;
  for (std::size_t i = 0; i < count; ++i) {
    const bool is_view = args[i].kind() == KernelArg::Kind::view;
    if (is_view) use(*args[i].view().block, place);
    place += is_view ? 2 : 1;
  }
  add(LaunchCommand{std::move(own), kernel.name, range});
}

void Capturer::add_fill(const Block& block, std::size_t offset, std::size_t size, const void* pattern,
                        std::size_t pattern_size) {
  use(block, 0);
  FillCommand command{block.memory(), {}, pattern_size, offset, size};
  std::memcpy(command.pattern.data(), pattern, pattern_size);
  add(command);
}

void Capturer::add_copy(const Block& from, std::size_t from_offset, const Block& to, std::size_t to_offset,
                        std::size_t size) {
  use(from, 0);
  use(to, 1);
  add(CopyCommand{from.memory(), to.memory(), from_offset, to_offset, size});
}

void Capturer::add_clblast(const ClblastCall& call, const std::array<const Block*, 3>& blocks) {
  for (cl_uint place = 0; place < blocks.size(); ++place) use(*blocks[place], place);
  add(call);
}

void Capturer::add_call(std::function<void(std::exception_ptr error)> function) {
  parts_.back().call = std::move(function);
  parts_.emplace_back();
}

void Capturer::set_memory(Command& command, cl_uint place, _cl_mem* memory) {
  if (auto* const launch = std::get_if<LaunchCommand>(&command)) {
    check_cl(clSetKernelArg(launch->kernel(), place, sizeof(cl_mem), &memory), "clSetKernelArg");
  } else if (auto* const fill = std::get_if<FillCommand>(&command)) {
    fill->memory = memory;
  } else if (auto* const call = std::get_if<ClblastCall>(&command)) {
    call->memory[place] = memory;
  } else {
    auto& copy = std::get<CopyCommand>(command);
    (place == 0 ? copy.from : copy.to) = memory;
  }
}

_cl_mem* Capturer::part_of(_cl_mem* whole, std::uint64_t offset, std::uint64_t bytes) {
  const cl_buffer_region region{offset, bytes};
  cl_int error = CL_SUCCESS;
  _cl_mem* const part = clCreateSubBuffer(whole, CL_MEM_READ_WRITE, CL_BUFFER_CREATE_TYPE_REGION, &region, &error);
  check_cl(error, "clCreateSubBuffer");
  memory_.emplace_back(part, false);
  return part;
}

void Capturer::place_memory() {
  std::vector<_cl_mem*> memory(planned_.size());
  std::vector<std::size_t> shared;
  std::vector<Lifetime> lives;
  for (std::size_t i = 0; i < planned_.size(); ++i) {
    const Planned& planned = planned_[i];
    if (const std::shared_ptr<PooledBlock> block = planned.block.lock()) {
      block->planned_ = 0;
      device_.pool().provide(*block);
      if (planned.uses > 0) keep(*block);
      memory[i] = block->memory();
    } else if (planned.uses > 0) {
      shared.push_back(i);
      lives.push_back({planned.bytes, planned.first, planned.last});
    }
  }
  // The driver gives its alignment in bits.
  const std::uint64_t alignment =
      std::max<std::uint64_t>(min_alignment, device_.device().getInfo<CL_DEVICE_MEM_BASE_ADDR_ALIGN>() / 8);
  const Placement placement = place_together(lives, alignment, device_.info().max_allocation);
  std::vector<_cl_mem*> wholes;
  for (const std::uint64_t bytes : placement.buffers) {
    const BlockPtr block = device_.pool().allocate(bytes, {});
    keep(*block);
    wholes.push_back(block->memory());
  }
  std::map<std::tuple<std::size_t, std::uint64_t, std::uint64_t>, _cl_mem*> parts;
  for (std::size_t i = 0; i < lives.size(); ++i) {
    const auto [buffer, offset] = placement.places[i];
    _cl_mem*& part = parts[{buffer, offset, lives[i].bytes}];
    if (part == nullptr) part = part_of(wholes[buffer], offset, lives[i].bytes);
    memory[shared[i]] = part;
  }
  for (Use& use : uses_) {
    if (use.memory != nullptr) continue;
    use.memory = memory[use.planned];
    set_memory(parts_[use.part].commands[use.command], use.place, use.memory);
  }
  planned_.clear();
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
  const cl_int error = device_.run_with_memory([&] {
    return clEnqueueNDRangeKernel(device_.queue(), c.kernel(), static_cast<cl_uint>(c.range.dimensions), nullptr,
                                  c.range.global.data(), local, 0, nullptr, timer.event());
  });
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
  // A profile and a timeline need an event for each kernel. They also use another queue, but a command buffer works
  // only in its own queue.
  if (part.buffer != nullptr && !device_.profiler().active() && part.buffer->queue() == device_.queue())
    part.buffer->enqueue();
  else
    for (const Command& command : part.commands) std::visit([this](const auto& c) { run(c); }, command);
  if (part.call) part.call(nullptr);
}

void Capturer::replay() {
  const std::lock_guard lock(mutex_);
  TimelineSlice slice("replay", "replay");
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
