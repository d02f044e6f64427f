// Which implementations OpenCL's loader is told of, and whether each can be loaded.
#include <algorithm>
#include <filesystem>
#include <fstream>

#include "base/text.h"
#include "cli/apart.h"
#include "cli/doctor/doctor.h"

#ifndef _WIN32
#include <dlfcn.h>
#endif

namespace crisol::cli::doctor {

namespace fs = std::filesystem;

namespace {

constexpr const char* install_remedy =
    "install the OpenCL driver of your device (NVIDIA: the display driver; AMD: ROCm's OpenCL or Mesa's rusticl; "
    "Intel: intel-opencl-icd), or for the CPU: apt install pocl-opencl-icd; see docs/installing-opencl.md";

#ifdef _WIN32

// The registry names the implementations there, and the display drivers have keys of their own: not looked at.
Json facts_of_loader() { return {{"path", "OpenCL.dll"}}; }
Json implementations(Problems&) { return Json::array(); }

#else

using Find = void* (*)(const char*);

/// Sends what the loaders of ocl-icd and Khronos say of themselves: name and version.
void ask_loader(const Send& send) {
  using GetLoaderInfo = int (*)(unsigned, std::size_t, void*, std::size_t*);
  const auto find = reinterpret_cast<Find>(dlsym(RTLD_DEFAULT, "clGetExtensionFunctionAddress"));
  const auto ask = find == nullptr ? nullptr : reinterpret_cast<GetLoaderInfo>(find("clGetICDLoaderInfoOCLICD"));
  if (ask == nullptr) return;
  constexpr unsigned version = 2, name = 3;  // CL_ICDL_VERSION, CL_ICDL_NAME
  for (const unsigned what : {name, version}) {
    char text[256] = "";
    if (ask(what, sizeof text - 1, text, nullptr) == 0) send(text);
  }
}

Json facts_of_loader() {
  Json facts{{"path", "unknown"}};
  Dl_info place{};
  void* const known = dlsym(RTLD_DEFAULT, "clGetPlatformIDs");
  if (known == nullptr || dladdr(known, &place) == 0) return facts;
  std::error_code error;
  const fs::path whole = fs::canonical(place.dli_fname, error);
  facts["path"] = error ? std::string(place.dli_fname) : whole.string();
  std::string said;
  // In a process of its own, because the question makes the loader load the implementations.
  run_apart(ask_loader, [&](const std::string& text) { said += (said.empty() ? "" : " ") + text; });
  facts["name"] = said.empty() ? "unknown" : said;
  return facts;
}

/// An implementation's library, and the file that names it.
struct Registration {
  std::string file, library;
};

std::string first_line(const fs::path& path) {
  std::ifstream file(path);
  std::string line;
  std::getline(file, line);
  line.erase(std::find_if(line.rbegin(), line.rend(), [](char c) { return c != '\r' && c != ' ' && c != '\t'; }).base(),
             line.end());
  return line;
}

/// Where the loader reads its list: a folder, a file of it, or a library.
std::string vendors() {
  const std::string chosen = variable("OCL_ICD_VENDORS");
  return chosen.empty() ? "/etc/OpenCL/vendors" : chosen;
}

std::vector<Registration> registrations() {
  std::vector<Registration> all;
  const fs::path place = vendors();
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

/// Loads a library as the loader does, and sends the number of its platforms; throws what keeps it from loading.
void try_library(const std::string& library, const Send& send) {
  void* const handle = dlopen(library.c_str(), RTLD_NOW);
  if (handle == nullptr) {
    const char* reason = dlerror();
    fail(ErrorCode::device_not_found, "loader", reason == nullptr ? "no reason is known" : reason);
  }
  using GetPlatforms = int (*)(unsigned, void**, unsigned*);
  const auto find = reinterpret_cast<Find>(dlsym(handle, "clGetExtensionFunctionAddress"));
  const auto platforms = find == nullptr ? nullptr : reinterpret_cast<GetPlatforms>(find("clIcdGetPlatformIDsKHR"));
  if (platforms == nullptr)
    fail(ErrorCode::device_not_found, "loader", library,
         " is no OpenCL implementation: it has no clIcdGetPlatformIDsKHR");
  unsigned count = 0;
  // A driver without its device gives an error of its own choice here, Intel's for GPUs CL_OUT_OF_HOST_MEMORY.
  if (platforms(0, nullptr, &count) != 0) count = 0;
  send(std::to_string(count));
}

Json implementation(const Registration& one, Problems& problems) {
  Json facts{{"file", one.file}, {"library", one.library}};
  const Ending ending = run_apart([&](const Send& send) { try_library(one.library, send); },
                                  [&](const std::string& count) { facts["platforms"] = std::stoi(count); });
  if (facts.contains("platforms")) return facts;
  const std::string error = ending.fault.empty() ? "it ended this process" : ending.fault;
  facts["error"] = error;
  problems.push_back({concat(one.file, ": the OpenCL implementation ", one.library, " cannot be loaded: ", error),
                      "install the package that this library, or what it misses, comes from, or remove its entry"});
  return facts;
}

Json implementations(Problems& problems) {
  Json all = Json::array();
  for (const Registration& one : registrations()) all.push_back(implementation(one, problems));
  if (all.empty())
    problems.push_back({concat("no OpenCL implementation is registered in ", vendors()), install_remedy});
  return all;
}

#endif

}  // namespace

Json loader_facts(Problems& problems) {
  return {{"loader", facts_of_loader()}, {"implementations", implementations(problems)}};
}

}  // namespace crisol::cli::doctor
