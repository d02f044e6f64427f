// The exchange of bytes between the ranks. One thread uses a link.
#pragma once

#include <atomic>
#include <cstddef>
#include <functional>
#include <optional>
#include <string>
#include <vector>

#include "dist/heartbeat.h"
#include "dist/links/fold.h"
#include "dist/links/local_link.h"
#include "dist/mpi.h"

namespace crisol::dist {

/// Waits do not block in MPI. They test and sleep, so that kernels can use the core and the heartbeat goes on.
class Link {
 public:
  /// `urgent` is the number of threads that wait for the link. While it is above 0, the link tests without sleep.
  /// `notes` is another communicator of all ranks. `memory` is shared by all ranks. If it is null, all bytes go through
  /// MPI.
  Link(MPI_Comm comm, MPI_Comm notes, SharedMemory* memory, Heartbeat& heartbeat, const std::atomic<int>& urgent);

  int rank() const noexcept { return rank_; }
  int world() const noexcept { return world_; }

  void wait(const std::function<bool()>& done);

  /// Begins to gather one byte of each rank. A rank may begin it before or after other exchanges.
  void begin_note(char own);
  /// Ends what begin_note() began. Returns the bytes of all ranks.
  std::vector<char> end_note();
  /// The texts of all ranks.
  std::vector<std::string> gather_text(const std::string& own);

  /// Combines `count` elements in place. `weights` as in fold().
  void all_reduce(std::byte* data, std::size_t count, ReduceOp op, DType dtype,
                  const std::vector<double>& weights = {});
  /// Rank r gets part r, combined over all ranks. The data has one part of `count` elements for each rank.
  void reduce_scatter(const std::byte* data, std::size_t count, ReduceOp op, DType dtype,
                      const std::vector<double>& weights, std::byte* result);
  /// `own` holds `bytes` bytes of this rank, and `all` gets `bytes` bytes of each rank. `own` may be this rank's place
  /// in `all`.
  void all_gather(const void* own, std::size_t bytes, void* all);
  void broadcast(std::byte* data, std::size_t bytes, int root);
  void barrier();

 private:
  void wait(MPI_Request request);
  void gather_piece(const void* own, std::size_t bytes, void* all);
  void all_reduce_piece(std::byte* data, std::size_t count, ReduceOp op, DType dtype,
                        const std::vector<double>& weights);
  std::byte* scratch(std::size_t bytes);

  MPI_Comm comm_, notes_;
  Heartbeat& heartbeat_;
  const std::atomic<int>& urgent_;
  int rank_ = 0, world_ = 1;
  std::vector<std::byte> scratch_;
  std::optional<LocalLink> local_;
  MPI_Request note_ = MPI_REQUEST_NULL;
  char own_note_ = 0;
  std::vector<char> notes_of_all_;
};

}  // namespace crisol::dist
