#include <algorithm>
#include <cstdlib>
#include <string_view>
#include <thread>

#include "base/text.h"
#include "cli/doctor/platform.h"
#include "crisol/version.h"

namespace crisol::cli::doctor {

namespace {

std::string compiler() {
#if defined(__clang__)
  return concat("clang ", __clang_major__, '.', __clang_minor__, '.', __clang_patchlevel__);
#elif defined(__GNUC__)
  return concat("g++ ", __GNUC__, '.', __GNUC_MINOR__, '.', __GNUC_PATCHLEVEL__);
#elif defined(_MSC_VER)
  return concat("MSVC ", _MSC_VER);
#else
  return "unknown";
#endif
}

const char* architecture() {
#if defined(__x86_64__) || defined(_M_X64)
  return "x86-64";
#elif defined(__aarch64__) || defined(_M_ARM64)
  return "aarch64";
#else
  return "another";
#endif
}

// Beginnings of the names of variables that change what OpenCL, its implementations or crisol do.
constexpr std::string_view of_interest[] = {"CRISOL_",
                                            "OCL_",
                                            "OPENCL_",
                                            "CL_CONFIG_",
                                            "POCL_",
                                            "RUSTICL_",
                                            "OCLGRIND_",
                                            "LP_",
                                            "CUDA_VISIBLE_DEVICES",
                                            "CUDA_CACHE_",
                                            "HIP_VISIBLE_DEVICES",
                                            "HSA_",
                                            "ROCR_VISIBLE_DEVICES",
                                            "LD_LIBRARY_PATH",
                                            "LD_PRELOAD",
                                            "XDG_CACHE_HOME",
                                            "WINEDEBUG"};

bool is_path_end(char c) { return c == '/' || c == '\\' || c == ':' || c == ';' || c == '"' || c == '\'' || c == ' '; }

/// Replaces a path at the beginning of longer paths: "/home/al" in "/home/al/x", and not in "/home/alice".
void replace_in_paths(std::string& text, const std::string& from, const char* to) {
  for (std::size_t at = 0; (at = text.find(from, at)) != std::string::npos;) {
    const std::size_t end = at + from.size();
    if (end == text.size() || is_path_end(text[end]))
      text.replace(at, from.size(), to);
    else
      ++at;
  }
}

void hide(Json& value, const std::string& home, const std::string& user) {
  if (value.is_structured()) {
    for (auto& part : value) hide(part, home, user);
    return;
  }
  if (!value.is_string()) return;
  auto& text = value.get_ref<std::string&>();
  if (!home.empty()) replace_in_paths(text, home, "~");
  if (user.empty()) return;
  for (const char* slash : {"/", "\\"}) replace_in_paths(text, slash + user, concat(slash, "USER").c_str());
}

}  // namespace

std::string variable(const char* name) {
  const char* value = std::getenv(name);
  return value == nullptr ? std::string() : std::string(value);
}

Json build_facts() {
  return {{"version", crisol::version()},
          {"compiler", compiler()},
          {"build", CRISOL_BUILD},
#ifdef CRISOL_STATIC
          {"library", "static"},
#else
          {"library", "shared"},
#endif
          {"architecture", architecture()}};
}

Json system_facts() {
  Json facts = system_names();
  facts["threads"] = std::thread::hardware_concurrency();
  facts.update(memory_facts());
  return facts;
}

Json environment_facts() {
  std::vector<std::string> all = all_variables();
  std::sort(all.begin(), all.end());
  Json facts = Json::object();
  for (const std::string& one : all) {
    const bool wanted = std::any_of(std::begin(of_interest), std::end(of_interest),
                                    [&](std::string_view start) { return one.starts_with(start); });
    const std::size_t equals = one.find('=');
    if (wanted && equals != std::string::npos) facts[one.substr(0, equals)] = one.substr(equals + 1);
  }
  return facts;
}

void hide_private_parts(Json& report) {
  std::string home = variable(words.home), user = variable(words.user);
  while (home.size() > 1 && (home.back() == '/' || home.back() == '\\')) home.pop_back();
  if (home.size() <= 1) home.clear();
  // "root" identifies nobody, and other paths may contain the word.
  if (user == "root") user.clear();
  hide(report, home, user);
}

}  // namespace crisol::cli::doctor
