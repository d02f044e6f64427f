// Programs that are needed for a short time, such as those that compute constants.
#pragma once

#include <cstddef>

namespace crisol::runtime {

class DeviceState;

/// Keeps track of the programs that a device loads while this object lives, in any thread.
class LoadedPrograms {
 public:
  explicit LoadedPrograms(DeviceState& device);

  /// Gives back the driver's memory for these programs, and returns their number. Programs that captured launches use
  /// stay loaded, and so do programs without a file in the cache. The next launch of a released program loads it from
  /// its file.
  std::size_t release();

 private:
  DeviceState& device_;
  const std::size_t first_;
};

}  // namespace crisol::runtime
