#include "dist/worker.h"

#include <utility>

#include "crisol/grad_mode.h"

#ifdef __linux__
#include <sys/prctl.h>
#endif

namespace crisol::dist {

Worker::Worker(MPI_Comm comm, MPI_Comm notes, MPI_Comm beats, SharedMemory* memory, int limit,
               std::function<void(int, int)> silent, std::function<void(const char*)> broken)
    : broken_(std::move(broken)),
      heartbeat_(beats, limit, std::move(silent)),
      link_(comm, notes, memory, heartbeat_, urgent_),
      thread_([this] { loop(); }) {}

Worker::~Worker() {
  {
    const std::lock_guard lock(mutex_);
    ends_ = true;
  }
  changed_.notify_one();
  thread_.join();
}

std::future<void> Worker::queue(Job job) {
  std::packaged_task<void(Link&)> task([this, own = std::move(job)](Link& link) {
    try {
      own(link);
    } catch (const Error& error) {
      if (error.code() == ErrorCode::io) broken_(error.what());
      throw;
    }
  });
  std::future<void> done = task.get_future();
  {
    const std::lock_guard lock(mutex_);
    jobs_.push_back(std::move(task));
  }
  changed_.notify_one();
  return done;
}

void Worker::wait(std::future<void>& done) {
  struct Urgent {
    std::atomic<int>& count;
    explicit Urgent(std::atomic<int>& c) : count(c) { ++count; }
    ~Urgent() { --count; }
  } const urgent(urgent_);
  done.get();
}

void Worker::run(Job job) {
  std::future<void> done = queue(std::move(job));
  wait(done);
}

// Returns false at the end.
bool Worker::next(std::packaged_task<void(Link&)>& job) {
  using namespace std::chrono_literals;
  std::unique_lock lock(mutex_);
  while (jobs_.empty() && !ends_) {
    changed_.wait_for(lock, 100ms);
    lock.unlock();
    heartbeat_.beat();
    lock.lock();
  }
  if (jobs_.empty()) return false;
  job = std::move(jobs_.front());
  jobs_.pop_front();
  return true;
}

void Worker::loop() {
#ifdef __linux__
  // By default Linux makes short sleeps up to 50 µs longer, which is more than a small exchange takes.
  prctl(PR_SET_TIMERSLACK, 1);
#endif
  const NoGrad no_grad;
  std::packaged_task<void(Link&)> job;
  while (next(job)) {
    job(link_);
    job = {};  // Destroys the job's objects before the next job comes.
  }
  heartbeat_.stop();
}

}  // namespace crisol::dist
