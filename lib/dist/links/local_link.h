// The exchange between ranks of one machine by memory that they share.
#pragma once

#include <cstddef>
#include <functional>
#include <vector>

#include "dist/links/fold.h"
#include "dist/links/shared_memory.h"

namespace crisol::dist {

/// Elements go through the slots of the ranks in chunks, so that they stay in the caches. A chunk is copied in, summed
/// and copied out in different rounds. So a rank works on other chunks while it waits for one. The functions are those
/// of Link, and their results have the same bits.
class LocalLink {
 public:
  LocalLink(SharedMemory& memory, Heartbeat& heartbeat) : memory_(memory), heartbeat_(heartbeat) {}

  void all_reduce(std::byte* data, std::size_t count, ReduceOp op, DType dtype, const std::vector<double>& weights);
  void reduce_scatter(const std::byte* data, std::size_t count, ReduceOp op, DType dtype,
                      const std::vector<double>& weights, std::byte* result);
  void all_gather(const std::byte* own, std::size_t bytes, std::byte* all);

 private:
  /// Runs the rounds of an exchange. A round copies a chunk in, and runs the later steps of earlier chunks. `then` has
  /// one function for each later step of a chunk. A step gets the chunk's number, and the round in which the chunk was
  /// copied in.
  using Step = std::function<void(std::size_t chunk, std::uint32_t round)>;
  void run(std::uint32_t exchange, std::size_t chunks, const Step& copy_in, const std::vector<Step>& then);
  void all_reduce_at_once(std::byte* data, std::size_t count, ReduceOp op, DType dtype,
                          const std::vector<double>& weights);
  /// The slots of all ranks in a round, `offset` bytes from their beginning. `own` replaces the slot of this rank.
  template <class Byte>
  std::vector<Byte*> places(std::uint32_t round, std::size_t offset, Byte* own) const;

  SharedMemory& memory_;
  Heartbeat& heartbeat_;
};

}  // namespace crisol::dist
