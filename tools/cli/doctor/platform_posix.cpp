#include <dlfcn.h>
#include <sys/stat.h>
#include <sys/utsname.h>
#include <unistd.h>

#include <algorithm>
#include <fstream>
#include <sstream>

#include "base/text.h"
#include "cli/doctor/platform.h"

extern char** environ;

namespace crisol::cli::doctor {

namespace fs = std::filesystem;

namespace {

// The value of a line "key: value kB" of /proc/meminfo in bytes, or 0.
std::uint64_t memory_line(const std::string& key) {
  std::ifstream file("/proc/meminfo");
  for (std::string line; std::getline(file, line);) {
    std::istringstream parts(line);
    std::string name;
    std::uint64_t kilobytes = 0;
    if (parts >> name >> kilobytes && name == key + ':') return kilobytes * 1024;
  }
  return 0;
}

// The distribution's own name of itself.
std::string distribution() {
  std::ifstream file("/etc/os-release");
  const std::string key = "PRETTY_NAME=";
  for (std::string line; std::getline(file, line);) {
    if (line.rfind(key, 0) != 0) continue;
    std::string name = line.substr(key.size());
    name.erase(std::remove(name.begin(), name.end(), '"'), name.end());
    return name;
  }
  return "unknown";
}

std::string first_line(const fs::path& path) {
  std::ifstream file(path);
  std::string line;
  std::getline(file, line);
  line.erase(std::find_if(line.rbegin(), line.rend(), [](char c) { return c != '\r' && c != ' ' && c != '\t'; }).base(),
             line.end());
  return line;
}

}  // namespace

const Words words = {
    "HOME", "USER", "CRISOL_CACHE_DIR, XDG_CACHE_HOME and HOME",
    "install the OpenCL driver of your device (NVIDIA: the display driver; AMD: ROCm's OpenCL or Mesa's rusticl; "
    "Intel: intel-opencl-icd), or for the CPU: apt install pocl-opencl-icd; see docs/installing-opencl.md",
    "a GPU is visible to members of the groups render and video, in a container when it is passed in, and to Mesa's "
    "rusticl when RUSTICL_ENABLE names its driver; see docs/installing-opencl.md"};

Json memory_facts() { return {{"memory", memory_line("MemTotal")}, {"available_memory", memory_line("MemAvailable")}}; }

Json system_names() {
  utsname names{};
  const bool known = uname(&names) == 0;
  return {{"system", distribution()}, {"kernel", known ? concat(names.sysname, ' ', names.release) : ""}};
}

std::vector<std::string> all_variables() {
  std::vector<std::string> all;
  for (char** at = environ; at != nullptr && *at != nullptr; ++at) all.push_back(*at);
  return all;
}

std::string owner_of(const fs::path& path) {
  struct stat facts {};
  if (stat(path.c_str(), &facts) != 0) return "unknown";
  if (facts.st_uid == geteuid()) return "this user";
  return facts.st_uid == 0 ? "root" : "another user";
}

/// A folder, a file in the folder, or a library.
std::string place_of_registrations() {
  const std::string chosen = variable("OCL_ICD_VENDORS");
  return chosen.empty() ? "/etc/OpenCL/vendors" : chosen;
}

std::vector<Registration> registrations() {
  std::vector<Registration> all;
  const fs::path place = place_of_registrations();
  std::error_code error;
  if (fs::is_directory(place, error)) {
    for (const fs::directory_entry& entry : fs::directory_iterator(place, error))
      if (entry.path().extension() == ".icd") all.push_back({entry.path().string(), first_line(entry.path())});
  } else if (place.extension() == ".icd") {
    all.push_back({place.string(), first_line(place)});
  } else if (!variable("OCL_ICD_VENDORS").empty()) {
    all.push_back({"OCL_ICD_VENDORS", place.string()});
  }
  std::istringstream libraries(variable("OCL_ICD_FILENAMES"));
  for (std::string library; std::getline(libraries, library, ':');)
    if (!library.empty()) all.push_back({"OCL_ICD_FILENAMES", library});
  std::sort(all.begin(), all.end(), [](const auto& a, const auto& b) { return a.file < b.file; });
  return all;
}

std::string path_of_loader() {
  Dl_info place{};
  void* const known = loader_function("clGetPlatformIDs");
  if (known == nullptr || dladdr(known, &place) == 0) return "unknown";
  std::error_code error;
  const fs::path whole = fs::canonical(place.dli_fname, error);
  return error ? std::string(place.dli_fname) : whole.string();
}

void* loader_function(const char* name) { return dlsym(RTLD_DEFAULT, name); }

void* load_library(const std::string& library) {
  void* const handle = dlopen(library.c_str(), RTLD_NOW);
  if (handle != nullptr) return handle;
  const char* reason = dlerror();
  fail(ErrorCode::device_not_found, "loader", reason == nullptr ? "no reason is known" : reason);
}

void* library_function(void* library, const char* name) { return dlsym(library, name); }

}  // namespace crisol::cli::doctor
