// Verification of variants on drivers that the library was not tested with: docs/tuning.md, "Drivers that nobody has
// tried".
#pragma once

#include <string>
#include <vector>

#include "crisol/device.h"
#include "crisol/export.h"

namespace crisol {

/// The outcome of a verification: a variant of an op computed a small problem, and a reference on the host checked the
/// result.
struct Verification {
  /// The name of the op, as in CRISOL_VARIANT. Settings that select other programs follow: "reduce kind=2".
  std::string op;
  /// A name such as "cpu_tiled". A variant with several settings adds the setting: "block/64x64".
  std::string variant;
  /// Whether the result was right. If not, the variant is skipped on this device and driver.
  bool agrees = false;
  /// The fault: the wrong numbers, or the first line of an error.
  std::string detail;
};

/// Whether all tests of the library ran with the driver on a device of this type. With other drivers, each variant is
/// verified at its first use.
CRISOL_API bool is_verified_driver(const DeviceInfo& info);

/// The known outcomes for a device with its driver, sorted by op and variant. They come from the file and from this
/// process.
CRISOL_API std::vector<Verification> verifications(Device device = Device());

/// The file of the outcomes: verified.txt in the folder of compiled kernels (kernel_cache_folder()). If there is no
/// folder, the result is empty, and nothing is stored.
CRISOL_API std::string verification_file();

}  // namespace crisol
