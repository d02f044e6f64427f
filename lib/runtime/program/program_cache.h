// The kernels of one device: first in memory by spec, then in the disk cache, then from the compiler.
#pragma once

#include <atomic>
#include <memory>
#include <mutex>
#include <string>
#include <string_view>
#include <unordered_map>
#include <vector>

#include "runtime/cl.h"
#include "runtime/launch.h"
#include "runtime/program/disk_cache.h"
#include "runtime/program/own_kernel_spec.h"
#include "runtime/program/progress.h"

namespace crisol::runtime {

/// A built program.
struct Program {
  std::string name;                 ///< The name of its source file, for messages.
  std::string key;                  ///< Identifies the program in the disk cache.
  std::string options;              ///< The options of its build.
  std::size_t number = 0;           ///< The number of programs of the device that were made before.
  std::mutex mutex;                 ///< Guards the members below.
  cl::Program handle;               ///< Null while the program is released.
  std::vector<std::string> warmed;  ///< Kernels with local sizes that have run.
  bool unsaved = false;             ///< True if a kernel ran whose code is not on the disk.
  bool stored = false;              ///< Whether a file is on the disk: the binary, or a note (driver_cache.h).
  bool captured = false;            ///< Whether a captured launch may use the program.
};

/// A kernel with a lock. The lock is held while the kernel's arguments are set and the kernel is queued.
class BuiltKernel {
 public:
  BuiltKernel(const KernelSpec& spec, std::shared_ptr<Program> program, cl::Kernel handle);

  cl::Kernel handle;  ///< Null while the program is released.
  std::mutex mutex;
  const std::string name;
  const OwnKernelSpec spec;
  std::shared_ptr<Program> program;
  std::array<std::size_t, 3> warmed_local{};  ///< Local size of the last launch; guarded by mutex.
  bool launched = false;
  std::vector<unsigned char> values;  ///< The values among the arguments of the last launch; guarded by mutex.
};

class ProgramCache {
 public:
  explicit ProgramCache(DeviceState& device);

  BuiltKernel& resolve(const KernelSpec& spec);
  /// Notes that a program's stored binary lacks code that has just run.
  void note_unsaved() noexcept {
    any_unsaved_.store(true, std::memory_order_relaxed);
    progress_.add_first_run();
  }
  CompileProgress& progress() noexcept { return progress_; }
  /// Writes the files of programs whose kernels ran for the first time. Call it when the queue is empty.
  void store_unsaved();
  /// Loads the kernel again, if its program was released. The caller holds the kernel's lock.
  void load_again(BuiltKernel& kernel) {
    if (kernel.handle() == nullptr) kernel.handle = make_kernel(*kernel.program, kernel.spec.view());
  }
  /// A second kernel object with separate arguments. The kernel's program is then never released.
  cl::Kernel make_captured(const BuiltKernel& kernel);
  /// Releases the programs whose `number` is at least `first`. Programs without a file and programs of captured
  /// launches stay. The next launch of a released program's kernel loads it again. Returns the number of released
  /// programs.
  std::size_t release_from(std::size_t first);
  /// The number of programs that this process compiled or loaded.
  std::size_t program_count() {
    const std::lock_guard lock(mutex_);
    return programs_.size();
  }

 private:
  std::shared_ptr<Program> program_for(const KernelSpec& spec);
  /// Builds the program, if it is released.
  cl::Kernel make_kernel(Program& program, const KernelSpec& spec);
  void build(Program& program, const KernelSpec& spec, const std::string& source);
  bool build_from_binary(Program& program, const CachedProgram& cached) const;
  void build_from_source(Program& program, const KernelSpec& spec, const std::string& source);
  bool build_with_short_declarations(Program& program, const KernelSpec& spec, const std::string& source);

  DeviceState& device_;
  std::atomic<bool> any_unsaved_{false};
  std::atomic<bool> full_declarations_{false};  ///< Set when a program did not build with short declarations.
  std::mutex storing_mutex_;                    ///< Held while files are stored.
  CompileProgress progress_;
  std::mutex mutex_;
  std::unordered_multimap<std::uint64_t, std::unique_ptr<BuiltKernel>> kernels_;
  std::unordered_map<std::string_view, std::shared_ptr<Program>> programs_;  ///< The map's key is Program::key.
};

}  // namespace crisol::runtime
