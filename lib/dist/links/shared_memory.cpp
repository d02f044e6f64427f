#include "dist/links/shared_memory.h"

#include <chrono>
#include <new>
#include <thread>
#include <utility>

#ifdef __linux__
#include <linux/futex.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <climits>
#include <ctime>
#endif

namespace crisol::dist {

namespace {

constexpr std::size_t page_bytes = 4096;

// Sleeps until `value` changes, for a twentieth of a second at most. It may wake up earlier.
void sleep_while(const std::atomic<std::uint32_t>& value, std::uint32_t seen) noexcept {
#ifdef __linux__
  constexpr timespec limit{0, 50'000'000};
  syscall(SYS_futex, &value, FUTEX_WAIT, seen, &limit, nullptr, 0);
#else
  using namespace std::chrono_literals;
  if (value.load(std::memory_order_acquire) == seen) std::this_thread::sleep_for(50us);
#endif
}

void wake_all([[maybe_unused]] const std::atomic<std::uint32_t>& value) noexcept {
#ifdef __linux__
  syscall(SYS_futex, &value, FUTEX_WAKE, INT_MAX, nullptr, nullptr, 0);
#endif
}

}  // namespace

std::unique_ptr<SharedMemory> SharedMemory::open(MPI_Comm local, std::string& reason) {
  int rank = 0, ranks = 1;
  check_mpi(MPI_Comm_rank(local, &rank), "MPI_Comm_rank");
  check_mpi(MPI_Comm_size(local, &ranks), "MPI_Comm_size");
  auto pages =
      SharedMapping::open(local, slots_begin(ranks) + static_cast<std::size_t>(ranks) * slots * slot_bytes, reason);
  if (pages == nullptr) return nullptr;
  std::unique_ptr<SharedMemory> result(new SharedMemory(std::move(pages), rank, ranks));
  // No rank may read the progress of another rank before it is initialised.
  check_mpi(MPI_Barrier(local), "MPI_Barrier");
  return result;
}

SharedMemory::SharedMemory(std::unique_ptr<SharedMapping> pages, int rank, int ranks)
    : pages_(std::move(pages)),
      rank_(rank),
      ranks_(ranks),
      memory_(pages_->memory()),
      progress_(std::launder(reinterpret_cast<Progress*>(memory_))) {
  static_assert(std::atomic<std::uint32_t>::is_always_lock_free && sizeof(std::atomic<std::uint32_t>) == 4);
  new (memory_ + static_cast<std::size_t>(rank) * sizeof(Progress)) Progress{};
}

std::size_t SharedMemory::slots_begin(int ranks) noexcept {
  return (static_cast<std::size_t>(ranks) * sizeof(Progress) + page_bytes - 1) / page_bytes * page_bytes;
}

std::byte* SharedMemory::slot(int rank, std::uint32_t round) const noexcept {
  return memory_ + slots_begin(ranks_) + (static_cast<std::size_t>(rank) * slots + round % slots) * slot_bytes;
}

void SharedMemory::end_round(std::uint32_t exchange) noexcept {
  Progress& own = progress_[rank_];
  own.exchanges[round_ % slots].store(exchange, std::memory_order_relaxed);
  own.rounds.store(++round_);
  if (own.waiting.load() != 0) wake_all(own.rounds);
}

// Compares the calls: ranks that make different calls would misread each other's bytes.
void SharedMemory::check_exchange(int rank, std::uint32_t round) const {
  const auto of = [&](int r) { return progress_[r].exchanges[round % slots].load(std::memory_order_relaxed); };
  if (of(rank) != of(rank_))
    fail(ErrorCode::io, "SharedMemory", "rank ", rank, " of this machine makes another exchange than rank ", rank_);
}

void SharedMemory::wait_for(std::uint32_t rounds, Heartbeat& heartbeat) const {
  constexpr int short_tests = 200;  // About the time of one system call.
  heartbeat.beat();
  for (int r = 0; r < ranks_; ++r) {
    if (r == rank_) continue;
    Progress& other = progress_[r];
    std::uint32_t seen = other.rounds.load();
    // Numbers of rounds wrap around. They differ by only a few, so the sign of the difference is right.
    const auto is_there = [&] { return static_cast<std::int32_t>(seen - rounds) >= 0; };
    for (int test = 0; test < short_tests && !is_there(); ++test) seen = other.rounds.load();
    while (!is_there()) {
      ++other.waiting;
      seen = other.rounds.load();
      if (!is_there()) sleep_while(other.rounds, seen);
      --other.waiting;
      heartbeat.beat();
      seen = other.rounds.load();
    }
    if (rounds != 0) check_exchange(r, rounds - 1);
  }
}

}  // namespace crisol::dist
