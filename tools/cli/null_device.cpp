#include "cli/null_device.h"

#include <cstdlib>
#include <fstream>
#include <map>
#include <nlohmann/json.hpp>
#include <system_error>

#include "base/text.h"
#include "crisol/device.h"
#include "crisol/ops/probe.h"
#include "null_driver/control.h"

#ifdef CRISOL_NULL_DRIVER_FOLDERS
#include <dlfcn.h>
#endif

namespace crisol::cli {

namespace fs = std::filesystem;

#ifdef CRISOL_NULL_DRIVER_FOLDERS

namespace {

constexpr const char* op = "kernels";

fs::path find_driver() {
  std::error_code error;
  const fs::path program = fs::read_symlink("/proc/self/exe", error);
  std::istringstream folders(CRISOL_NULL_DRIVER_FOLDERS);
  for (std::string folder; std::getline(folders, folder, ':');) {
    const fs::path path = program.parent_path() / folder / "libcrisol_null_driver.so";
    if (fs::exists(path, error)) return fs::canonical(path, error);
  }
  fail(ErrorCode::io, op, "libcrisol_null_driver.so is not in ", CRISOL_NULL_DRIVER_FOLDERS, " beside ",
       program.parent_path().string());
}

fs::path make_folder() {
  std::string name = (fs::temp_directory_path() / "crisol-kernels-XXXXXX").string();
  if (mkdtemp(name.data()) == nullptr) fail(ErrorCode::io, op, "cannot make a temporary folder ", name);
  return name;
}

void set(const char* variable, const std::string& value) { setenv(variable, value.c_str(), 1); }

}  // namespace

NullDevice::NullDevice(const std::string& device_file)
    : device_file_(device_file), folder_(make_folder()), driver_(find_driver()) {
  read_device_info(device_file);  // Called only to throw an error for a bad file.
  std::ofstream(folder_ / "null.icd") << driver_.string() << '\n';
  set(null_driver::device_variable, fs::absolute(device_file).string());
  set("OCL_ICD_VENDORS", folder_.string());    // ocl-icd
  set("OCL_ICD_FILENAMES", driver_.string());  // The Khronos loader
  set("CRISOL_CACHE_DIR", (folder_ / "cache").string());
  set("CRISOL_TUNING", "0");  // Off, so that the library makes its own choices.
  for (const char* variable : {"CRISOL_DEVICE", "CRISOL_PROFILE", "CRISOL_VECTOR_WIDTH"}) unsetenv(variable);
}

NullDevice::~NullDevice() {
  std::error_code error;
  fs::remove_all(folder_, error);
}

void* NullDevice::symbol(const char* name) const {
  void* const loaded = dlopen(driver_.c_str(), RTLD_NOW | RTLD_NOLOAD);
  if (loaded == nullptr) fail(ErrorCode::device_not_found, op, "the OpenCL loader did not load ", driver_.string());
  void* const found = dlsym(loaded, name);
  dlclose(loaded);  // The OpenCL loader keeps the library loaded.
  if (found == nullptr) fail(ErrorCode::io, op, driver_.string(), " has no ", name, ": it is of another version");
  return found;
}

void NullDevice::answer_probes() const {
  const Device device;  // Makes the loader load the driver.
  std::ifstream file(device_file_);
  const auto facts = nlohmann::json::parse(file);
  ops::assume_probes(device, facts.value("/offline/probes"_json_pointer, std::map<std::string, std::string>()));
}

void NullDevice::begin_part(std::size_t part) const {
  reinterpret_cast<null_driver::BeginPart>(symbol(null_driver::begin_part_symbol))(part);
}

std::string NullDevice::record() const {
  return reinterpret_cast<null_driver::GetRecord>(symbol(null_driver::get_record_symbol))();
}

#else

NullDevice::NullDevice(const std::string&) {
  fail(ErrorCode::device_not_found, "kernels", "works where OpenCL's loader takes a driver from a variable: on Linux");
}
NullDevice::~NullDevice() = default;
void* NullDevice::symbol(const char*) const { return nullptr; }
void NullDevice::answer_probes() const {}
void NullDevice::begin_part(std::size_t) const {}
std::string NullDevice::record() const { return {}; }

#endif

}  // namespace crisol::cli
