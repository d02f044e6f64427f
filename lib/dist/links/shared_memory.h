// Memory that the ranks of one machine share.
#pragma once

#include <atomic>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <string>

#include "dist/heartbeat.h"
#include "dist/links/shared_mapping.h"
#include "dist/mpi.h"

namespace crisol::dist {

/// Each rank has some slots, which all ranks read and write, and a count of the rounds that it has ended. An exchange
/// is a sequence of rounds, the same one on all ranks. The slots of a rank take turns: round r uses slot r modulo
/// `slots`.
class SharedMemory {
 public:
  /// Slots of a rank, and their size. All slots of a rank fit into the L2 cache of a core.
  static constexpr std::uint32_t slots = 5;
  static constexpr std::size_t slot_bytes = std::size_t{256} << 10;

  /// The memory that the ranks of `local` share. All of them run on one machine. Null on every rank if one rank cannot
  /// map it. `reason` then says why.
  static std::unique_ptr<SharedMemory> open(MPI_Comm local, std::string& reason);
  SharedMemory(const SharedMemory&) = delete;
  SharedMemory& operator=(const SharedMemory&) = delete;

  int rank() const noexcept { return rank_; }
  int ranks() const noexcept { return ranks_; }

  /// The number of rounds that this rank has ended. This is also the number of its current round.
  std::uint32_t round() const noexcept { return round_; }
  /// The slot of a rank in a round.
  std::byte* slot(int rank, std::uint32_t round) const noexcept;
  /// Ends a round: the other ranks may read the bytes that this rank wrote before. `exchange` is a number for the
  /// function and the size of the exchange.
  void end_round(std::uint32_t exchange) noexcept;
  /// Waits until each rank has ended `rounds` rounds. Meanwhile the core is free, and the heartbeat goes on. Throws
  /// Error (io) if a rank ended the last of these rounds with another `exchange` than this rank.
  void wait_for(std::uint32_t rounds, Heartbeat& heartbeat) const;

 private:
  /// One for each rank, at the beginning of the memory, in separate cache lines.
  struct alignas(128) Progress {
    std::atomic<std::uint32_t> rounds, waiting;   ///< `waiting` counts the ranks that sleep until `rounds` changes.
    std::atomic<std::uint32_t> exchanges[slots];  ///< The exchanges of the last rounds.
  };

  SharedMemory(std::unique_ptr<SharedMapping> pages, int rank, int ranks);
  void check_exchange(int rank, std::uint32_t round) const;
  static std::size_t slots_begin(int ranks) noexcept;

  const std::unique_ptr<SharedMapping> pages_;
  const int rank_, ranks_;
  std::byte* const memory_;
  Progress* const progress_;
  std::uint32_t round_ = 0;
};

}  // namespace crisol::dist
