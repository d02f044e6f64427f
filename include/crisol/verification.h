// What the library found when it tried its variants on a driver that nobody has tried: docs/tuning.md, "Drivers that
// nobody has tried".
#pragma once

#include <string>
#include <vector>

#include "crisol/device.h"
#include "crisol/export.h"

namespace crisol {

/// What a variant of an op computed for a small problem, held against a reference on the host.
struct Verification {
  std::string op;       ///< As CRISOL_VARIANT names it; with what else selects its programs: "reduce kind=2".
  std::string variant;  ///< "cpu_tiled", or with one of its settings, "block/64x64".
  bool agrees = false;  ///< A variant that does not is passed over on this device and driver.
  std::string detail;   ///< What was wrong: the numbers, or the first line of an error.
};

/// Whether all tests ran with the driver, on a device of this type. On other drivers, each variant is verified at its
/// first use.
CRISOL_API bool is_verified_driver(const DeviceInfo& info);

/// What is known of a device with its driver: stored outcomes and those of this process, by op and variant.
CRISOL_API std::vector<Verification> verifications(Device device = Device());

/// The file of the outcomes, verified.txt in the folder of compiled kernels (kernel_cache_folder()); empty when there
/// is no such folder, and then nothing is stored.
CRISOL_API std::string verification_file();

}  // namespace crisol
