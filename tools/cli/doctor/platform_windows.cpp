#include <windows.h>

#include <cstdlib>
#include <sstream>

#include "base/system.h"
#include "base/text.h"
#include "cli/doctor/platform.h"

namespace crisol::cli::doctor {

namespace {

HMODULE loader() { return GetModuleHandleW(L"OpenCL.dll"); }

constexpr const wchar_t* vendors = L"SOFTWARE\\Khronos\\OpenCL\\Vendors";

/// The loader reads this key. The name of each value is the path of a library. Its number is 0 if the library is in
/// use.
void add_from_registry(std::vector<Registration>& all) {
  HKEY key = nullptr;
  if (RegOpenKeyExW(HKEY_LOCAL_MACHINE, vendors, 0, KEY_QUERY_VALUE, &key) != ERROR_SUCCESS) return;
  constexpr DWORD longest_name = 16384;  // Windows' own limit, with the zero at the end.
  std::wstring name(longest_name, L'\0');
  for (DWORD i = 0;; ++i) {
    DWORD size = longest_name, type = 0, disabled = 1, bytes = sizeof disabled;
    const LSTATUS status =
        RegEnumValueW(key, i, name.data(), &size, nullptr, &type, reinterpret_cast<BYTE*>(&disabled), &bytes);
    if (status != ERROR_SUCCESS && status != ERROR_MORE_DATA) break;
    if (status == ERROR_SUCCESS && type == REG_DWORD && disabled == 0)
      all.push_back({"HKEY_LOCAL_MACHINE\\" + system::text_of(vendors), system::text_of(name.substr(0, size))});
  }
  RegCloseKey(key);
}

}  // namespace

constexpr const char* advice =
    "the display driver of a GPU's vendor brings its OpenCL, and Intel's OpenCL runtime is there for the CPU; see "
    "docs/installing-opencl.md";
const Words words = {"USERPROFILE", "USERNAME", "CRISOL_CACHE_DIR and LOCALAPPDATA", advice, advice};

Json memory_facts() {
  MEMORYSTATUSEX status{};
  status.dwLength = sizeof status;
  if (!GlobalMemoryStatusEx(&status)) return {{"memory", 0}, {"available_memory", 0}};
  return {{"memory", status.ullTotalPhys}, {"available_memory", status.ullAvailPhys}};
}

Json system_names() { return {{"system", "Windows"}, {"kernel", ""}}; }

std::vector<std::string> all_variables() {
  std::vector<std::string> all;
  for (char** at = _environ; at != nullptr && *at != nullptr; ++at) all.push_back(*at);
  return all;
}

std::string owner_of(const std::filesystem::path& /*path*/) { return "unknown"; }

std::vector<Registration> registrations() {
  std::vector<Registration> all;
  add_from_registry(all);
  std::istringstream libraries(variable("OCL_ICD_FILENAMES"));
  for (std::string library; std::getline(libraries, library, ';');)
    if (!library.empty()) all.push_back({"OCL_ICD_FILENAMES", library});
  return all;
}

/// Display drivers name their implementation in keys of their own.
std::string place_of_registrations() { return ""; }

std::string path_of_loader() {
  std::wstring path(32768, L'\0');  // The longest path of Windows.
  const DWORD size =
      loader() == nullptr ? 0 : GetModuleFileNameW(loader(), path.data(), static_cast<DWORD>(path.size()));
  return size == 0 ? "unknown" : system::text_of(path.substr(0, size));
}

void* loader_function(const char* name) { return loader() == nullptr ? nullptr : library_function(loader(), name); }

void* load_library(const std::string& library) {
  DWORD former = 0;
  SetThreadErrorMode(SEM_FAILCRITICALERRORS, &former);  // No window that asks for a missing DLL.
  const HMODULE handle = LoadLibraryW(system::path_of(library).c_str());
  const DWORD error = GetLastError();
  SetThreadErrorMode(former, nullptr);
  if (handle != nullptr) return reinterpret_cast<void*>(handle);
  fail(ErrorCode::device_not_found, "loader", std::system_category().message(static_cast<int>(error)));
}

void* library_function(void* library, const char* name) {
  return reinterpret_cast<void*>(GetProcAddress(static_cast<HMODULE>(library), name));
}

}  // namespace crisol::cli::doctor
