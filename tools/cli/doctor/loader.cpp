// Which implementations OpenCL's loader is told of, and whether each can be loaded.
#include "base/text.h"
#include "cli/apart.h"
#include "cli/doctor/platform.h"

namespace crisol::cli::doctor {

namespace {

using Find = void* (*)(const char*);

/// Sends the name and the version of the loader, which the loaders of ocl-icd and Khronos tell.
void ask_loader(const Send& send) {
  using GetLoaderInfo = int (*)(unsigned, std::size_t, void*, std::size_t*);
  const auto find = reinterpret_cast<Find>(loader_function("clGetExtensionFunctionAddress"));
  const auto ask = find == nullptr ? nullptr : reinterpret_cast<GetLoaderInfo>(find("clGetICDLoaderInfoOCLICD"));
  if (ask == nullptr) return;
  constexpr unsigned version = 2, name = 3;  // CL_ICDL_VERSION, CL_ICDL_NAME
  for (const unsigned what : {name, version}) {
    char text[256] = "";
    if (ask(what, sizeof text - 1, text, nullptr) == 0) send(text);
  }
}

Json facts_of_loader() {
  Json facts{{"path", path_of_loader()}};
  if (facts["path"] == "unknown") return facts;
  std::string said;
  // This runs in a process of its own, because the question makes the loader load the implementations.
  run_apart(ask_loader, [&](const std::string& text) { said += (said.empty() ? "" : " ") + text; });
  facts["name"] = said.empty() ? "unknown" : said;
  return facts;
}

/// Loads a library as the loader does, and sends the number of its platforms. Throws the reason if it does not load.
void try_library(const std::string& library, const Send& send) {
  void* const handle = load_library(library);
  using GetPlatforms = int (*)(unsigned, void**, unsigned*);
  const auto find = reinterpret_cast<Find>(library_function(handle, "clGetExtensionFunctionAddress"));
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
  const std::string place = place_of_registrations();
  if (all.empty() && !place.empty())
    problems.push_back({"no OpenCL implementation is registered in " + place, words.no_driver});
  return all;
}

}  // namespace

Json loader_facts(Problems& problems) {
  return {{"loader", facts_of_loader()}, {"implementations", implementations(problems)}};
}

}  // namespace crisol::cli::doctor
