// The thread that talks to the other ranks.
#pragma once

#include <atomic>
#include <condition_variable>
#include <deque>
#include <functional>
#include <future>
#include <mutex>
#include <thread>

#include "dist/links/link.h"

namespace crisol::dist {

/// Runs jobs one after another on one thread. After init(), only this thread calls MPI.
class Worker {
 public:
  using Job = std::function<void(Link& link)>;

  /// Three communicators of all ranks, and the memory that all share, or null. At an error of MPI, calls `broken` with
  /// its text. The ranks then no longer agree on the next exchange, so the exchange might wait for ever.
  Worker(MPI_Comm comm, MPI_Comm notes, MPI_Comm beats, SharedMemory* memory, int limit,
         std::function<void(int rank, int seconds)> silent, std::function<void(const char* text)> broken);
  ~Worker();
  Worker(const Worker&) = delete;
  Worker& operator=(const Worker&) = delete;

  /// Queues a job. The future becomes ready when the job has ended, and holds its exception.
  std::future<void> queue(Job job);
  /// Waits for a job with high priority. Throws its exception.
  void wait(std::future<void>& done);
  /// Queues a job and waits for it.
  void run(Job job);

 private:
  void loop();
  bool next(std::packaged_task<void(Link&)>& job);

  const std::function<void(const char*)> broken_;
  std::atomic<int> urgent_{0};
  Heartbeat heartbeat_;
  Link link_;
  std::mutex mutex_;
  std::condition_variable changed_;
  std::deque<std::packaged_task<void(Link&)>> jobs_;
  bool ends_ = false;
  std::thread thread_;
};

}  // namespace crisol::dist
