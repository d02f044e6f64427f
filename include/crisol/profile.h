// Time on the device, by kernel.
#pragma once

#include <cstdint>
#include <iosfwd>
#include <memory>
#include <string>
#include <vector>

#include "crisol/device.h"
#include "crisol/export.h"

namespace crisol {

/// What one kernel cost: times from OpenCL events, in milliseconds.
struct ProfileRow {
  std::string kernel;
  std::int64_t launches = 0;
  double total_ms = 0, min_ms = 0, max_ms = 0;
};

/// Records every launch on a device from construction to destruction. The environment variable CRISOL_PROFILE=1 records
/// the whole process instead and prints the table to stderr at exit.
///
///     crisol::Profile profile(device);
///     train_step();
///     std::cout << profile;
class CRISOL_API Profile {
 public:
  explicit Profile(Device device = Device());
  ~Profile();
  Profile(const Profile&) = delete;
  Profile& operator=(const Profile&) = delete;

  /// Waits for the queued work; rows by falling total time.
  std::vector<ProfileRow> rows() const;

 private:
  Device device_;
  std::size_t first_;
};

/// A table: kernel, launches, total, mean and share of the time.
CRISOL_API std::ostream& operator<<(std::ostream& out, const Profile& profile);

}  // namespace crisol
