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

/// Waits never block in MPI: they test and sleep, so that the core is free for kernels, and the heartbeat goes on.
class Link {
 public:
  /// `urgent`: how many threads wait for the link. While some do, it tests without sleep.
  /// `notes` is another communicator of all ranks. `memory` is shared by all ranks, or null: then all goes through MPI.
  Link(MPI_Comm comm, MPI_Comm notes, SharedMemory* memory, Heartbeat& heartbeat, const std::atomic<int>& urgent);

  int rank() const noexcept { return rank_; }
  int world() const noexcept { return world_; }

  void wait(const std::function<bool()>& done);

  /// Begins a gather of one byte of each rank. Ranks may begin it before or after other exchanges.
  void begin_note(char own);
  /// Ends it: the bytes of all ranks.
  std::vector<char> end_note();
  /// The texts of all ranks.
  std::vector<std::string> gather_text(const std::string& own);

  /// Combines `count` elements in place. `weights` as in fold().
  void all_reduce(std::byte* data, std::size_t count, ReduceOp op, DType dtype, const std::vector<float>& weights = {});
  /// Combines part r of the data of all ranks on rank r: `count` elements in each of the world parts.
  void reduce_scatter(const std::byte* data, std::size_t count, ReduceOp op, DType dtype,
                      const std::vector<float>& weights, std::byte* result);
  /// `own` and `all` hold `bytes` bytes for one rank and for each rank. `own` may be the place in `all`.
  void all_gather(const void* own, std::size_t bytes, void* all);
  void broadcast(std::byte* data, std::size_t bytes, int root);
  void barrier();

 private:
  void wait(MPI_Request request);
  void gather_piece(const void* own, std::size_t bytes, void* all);
  void all_reduce_piece(std::byte* data, std::size_t count, ReduceOp op, DType dtype,
                        const std::vector<float>& weights);
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
