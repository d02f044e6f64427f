// Kernels of one device: in memory by spec, below that the disk cache and the compiler.
#pragma once

#include <atomic>
#include <chrono>
#include <memory>
#include <mutex>
#include <string>
#include <unordered_map>
#include <vector>

#include "runtime/cl.h"
#include "runtime/disk_cache.h"
#include "runtime/launch.h"

namespace crisol::runtime {

/// A built program.
struct Program {
  cl::Program handle;
  std::string name;  ///< Of its source file, for messages.
  std::string key;   ///< Its identity in the disk cache.
  std::mutex mutex;
  std::vector<std::string> warmed;  ///< Kernels with local sizes that have run.
  bool unsaved = false;             ///< Something ran that the disk does not hold.
};

/// A kernel with the lock under which its arguments are set and it is enqueued.
class Kernel {
 public:
  Kernel(const KernelSpec& spec, std::shared_ptr<Program> program, cl::Kernel handle);

  bool matches(const KernelSpec& spec) const noexcept;

  cl::Kernel handle;
  std::mutex mutex;
  const std::string name;
  std::shared_ptr<Program> program;
  std::array<std::size_t, 3> warmed_local{};  ///< Local size of the last launch; guarded by mutex.
  bool launched = false;

 private:
  const std::string source_, prelude_;
  std::vector<std::pair<std::string, std::string>> texts_;  ///< Owns what defines_ views.
  Defines defines_;
};

class ProgramCache {
 public:
  explicit ProgramCache(DeviceState& device);

  Kernel& resolve(const KernelSpec& spec);
  /// Tells that a program's stored binary lacks what has just run.
  void note_unsaved() noexcept { any_unsaved_.store(true, std::memory_order_relaxed); }
  /// Writes the binaries of programs whose kernels ran for the first time; call when the queue is empty, `ending`
  /// before the device is used no more. Where that takes long, it takes a small part of the process's time: what is
  /// left waits for the next call.
  void store_unsaved(bool ending = false);
  /// Programs that are in memory: compiled or loaded by this process.
  std::size_t program_count() {
    const std::lock_guard lock(mutex_);
    return programs_.size();
  }

 private:
  std::shared_ptr<Program> program_for(const KernelSpec& spec);
  std::shared_ptr<Program> make_program(const KernelSpec& spec, const std::string& key,
                                        const std::string& source) const;
  bool build_from_binary(Program& program) const;

  bool may_store(bool ending) const;

  DeviceState& device_;
  const std::chrono::steady_clock::time_point start_ = std::chrono::steady_clock::now();
  std::atomic<bool> any_unsaved_{false};
  std::mutex storing_mutex_;  ///< Of who stores, and of the two below.
  std::chrono::steady_clock::duration storing_{};
  int stored_ = 0;
  DiskCache disk_;
  std::mutex mutex_;
  std::unordered_multimap<std::uint64_t, std::unique_ptr<Kernel>> kernels_;
  std::unordered_map<std::string, std::shared_ptr<Program>> programs_;
};

}  // namespace crisol::runtime
