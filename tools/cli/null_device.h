// A device that is not in this machine. The driver in tools/null_driver simulates it.
#pragma once

#include <cstddef>
#include <filesystem>
#include <string>

namespace crisol::cli {

/// Makes the OpenCL loader see only the device that a file describes. The library starts with an empty program cache.
/// The process must not have called OpenCL before. Throws io for a file that does not describe a device.
class NullDevice {
 public:
  explicit NullDevice(const std::string& device_file);
  /// Removes the temporary folder.
  ~NullDevice();
  NullDevice(const NullDevice&) = delete;
  NullDevice& operator=(const NullDevice&) = delete;

  /// Sets the results of device probes to the key "probes" in the file's "offline": {"matrix_fp16": "mma_sm80", …}. The
  /// probes find nothing else. Loads the driver. Throws invalid_argument for a probe that does not exist or cannot have
  /// that result.
  void answer_probes() const;
  /// Launches from now on belong to part number `part` of the run.
  void begin_part(std::size_t part) const;
  /// The programs and launches so far, as JSON (see null_driver/record.h).
  std::string record() const;

 private:
  void* symbol(const char* name) const;

  std::filesystem::path device_file_, folder_, driver_;
};

}  // namespace crisol::cli
