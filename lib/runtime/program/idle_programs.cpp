#include "runtime/program/idle_programs.h"

#include "runtime/device/device_state.h"

namespace crisol::runtime {

LoadedPrograms::LoadedPrograms(DeviceState& device) : device_(device), first_(device.programs().program_count()) {}

std::size_t LoadedPrograms::release() { return device_.programs().release_from(first_); }

cl::Kernel ProgramCache::make_captured(const BuiltKernel& kernel) {
  {
    const std::lock_guard lock(kernel.program->mutex);
    kernel.program->captured = true;
  }
  return make_kernel(*kernel.program, kernel.spec.view());
}

std::size_t ProgramCache::release_from(std::size_t first) {
  std::vector<BuiltKernel*> kernels;
  {
    const std::lock_guard lock(mutex_);
    for (const auto& [hash, kernel] : kernels_)
      if (kernel->program->number >= first) kernels.push_back(kernel.get());
  }
  std::size_t released = 0;
  for (BuiltKernel* const kernel : kernels) {
    Program& program = *kernel->program;
    const std::lock_guard lock(kernel->mutex);
    const std::lock_guard program_lock(program.mutex);
    if (!program.stored || program.unsaved || program.captured) continue;
    kernel->handle = {};
    kernel->values.clear();  // A new kernel handle has no arguments.
    kernel->launched = false;
    if (program.handle() != nullptr) ++released;
    program.handle = {};
  }
  return released;
}

}  // namespace crisol::runtime
