// A device that is not there, played by the driver in lib/null_driver.
#pragma once

#include <cstddef>
#include <filesystem>
#include <string>

namespace crisol::cli {

/// Makes the OpenCL loader see the device of a file alone, and the library start with an empty cache of programs: for a
/// process that has not called OpenCL yet. Throws io for a file that does not describe a device.
class NullDevice {
 public:
  explicit NullDevice(const std::string& device_file);
  /// Removes the temporary folder.
  ~NullDevice();
  NullDevice(const NullDevice&) = delete;
  NullDevice& operator=(const NullDevice&) = delete;

  /// Lets probes of the device find what the key "probes" of the file's "offline" says: {"matrix_fp16": "mma_sm80", …},
  /// and nothing else. Loads the driver. Throws invalid_argument for a probe that does not exist or cannot find that.
  void answer_probes() const;
  /// What is queued from now on belongs to the `part`-th part of the run.
  void begin_part(std::size_t part) const;
  /// Programs and launches so far, as JSON (see null_driver/record.h).
  std::string record() const;

 private:
  void* symbol(const char* name) const;

  std::filesystem::path device_file_, folder_, driver_;
};

}  // namespace crisol::cli
