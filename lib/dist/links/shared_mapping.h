// Memory that several processes of one machine map.
#pragma once

#include <cstddef>
#include <memory>
#include <string>

#include "dist/mpi.h"

namespace crisol::dist {

/// Pages of a file without a name. The system frees them when the last process unmaps them or ends. They do not count
/// against the size of /dev/shm, which is 64 MB in many containers.
class SharedMapping {
 public:
  /// Pages of zeros for all ranks of `local`. Null on every rank if one rank cannot map them. `reason` then says why.
  static std::unique_ptr<SharedMapping> open(MPI_Comm local, std::size_t bytes, std::string& reason);
  ~SharedMapping();
  SharedMapping(const SharedMapping&) = delete;
  SharedMapping& operator=(const SharedMapping&) = delete;

  std::byte* memory() const noexcept { return memory_; }

 private:
  SharedMapping(std::byte* memory, std::size_t bytes) : memory_(memory), bytes_(bytes) {}

  std::byte* const memory_;
  const std::size_t bytes_;
};

}  // namespace crisol::dist
