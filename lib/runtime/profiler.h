// Kernel times from events.
#pragma once

#include <atomic>
#include <mutex>
#include <string>
#include <vector>

#include "crisol/profile.h"
#include "runtime/cl.h"

namespace crisol::runtime {

class Profiler {
 public:
  bool active() const noexcept { return users_.load(std::memory_order_relaxed) > 0; }
  /// Returns true if this was the first user.
  bool start() noexcept { return users_.fetch_add(1) == 0; }
  /// Returns true if this was the last user.
  bool stop() noexcept { return users_.fetch_sub(1) == 1; }

  void record(const std::string& kernel, cl::Event event);
  /// Converts events to times; call it when the queue is empty.
  void drain();

  /// The number of launches timed so far; a position for rows_since.
  std::size_t count() const;
  std::vector<ProfileRow> rows_since(std::size_t first) const;

 private:
  struct Pending {
    std::string kernel;
    cl::Event event;
  };
  struct Timed {
    std::string kernel;
    double ms;
  };

  std::atomic<int> users_{0};
  mutable std::mutex mutex_;
  std::vector<Pending> pending_;
  std::vector<Timed> timed_;
};

void print_profile(std::ostream& out, const std::vector<ProfileRow>& rows);

}  // namespace crisol::runtime
