#include <fcntl.h>
#include <io.h>
#include <share.h>
#include <sys/stat.h>
#include <windows.h>

#include <cstdlib>
#ifdef _UCRT
#include <corecrt_startup.h>
#endif

#include "base/forked.h"
#include "base/system.h"

namespace crisol::system {

std::string environment(const char* variable) {
  const std::wstring name = path_of(variable).wstring();
  std::wstring value(1, L'\0');
  for (;;) {  // Another thread may make the value longer between two calls.
    const DWORD size = GetEnvironmentVariableW(name.c_str(), value.data(), static_cast<DWORD>(value.size()));
    if (size < value.size()) {
      value.resize(size);
      return text_of(value);
    }
    value.resize(size);
  }
}

std::string cache_folder() {
  const std::string folder = environment("LOCALAPPDATA");
  return folder.empty() ? folder : folder + "\\crisol";
}

std::FILE* create_file(const std::filesystem::path& path) {
  int handle = -1;
  const errno_t error =
      _wsopen_s(&handle, path.c_str(), _O_WRONLY | _O_CREAT | _O_EXCL | _O_BINARY, _SH_DENYWR, _S_IREAD | _S_IWRITE);
  if (error != 0) return nullptr;
  std::FILE* file = _fdopen(handle, "wb");
  if (file == nullptr) _close(handle);
  return file;
}

bool flush_to_disk(std::FILE* file) { return std::fflush(file) == 0 && _commit(_fileno(file)) == 0; }

void replace_file(const std::filesystem::path& from, const std::filesystem::path& to, std::error_code& error) {
  constexpr int tries = 100;
  constexpr DWORD pause_ms = 10;
  for (int i = 0; i < tries; ++i) {
    if (MoveFileExW(from.c_str(), to.c_str(), MOVEFILE_REPLACE_EXISTING | MOVEFILE_WRITE_THROUGH) != 0) {
      error.clear();
      return;
    }
    const DWORD reason = GetLastError();
    error.assign(static_cast<int>(reason), std::system_category());
    // Any other error than these two does not mean that another program has the file open.
    if (reason != ERROR_SHARING_VIOLATION && reason != ERROR_ACCESS_DENIED) return;
    const DWORD attributes = GetFileAttributesW(to.c_str());
    if (attributes != INVALID_FILE_ATTRIBUTES &&
        (attributes & (FILE_ATTRIBUTE_DIRECTORY | FILE_ATTRIBUTE_READONLY)) != 0)
      return;
    Sleep(pause_ms);
  }
}

// Nothing is left to do: MoveFileExW with MOVEFILE_WRITE_THROUGH has already written the name to the disk.
void flush_folder(const std::filesystem::path& /*folder*/) {}

void at_exit(void (*function)()) {
#ifdef _UCRT
  _crt_atexit(function);
#else
  // The compiler's own _onexit adds to a table of this DLL. The function of msvcrt.dll adds to the table of the
  // process.
  static const auto add = reinterpret_cast<_onexit_t (*)(_onexit_t)>(
      reinterpret_cast<void*>(GetProcAddress(GetModuleHandleW(L"msvcrt.dll"), "_onexit")));
  add(reinterpret_cast<_onexit_t>(reinterpret_cast<void*>(function)));
#endif
}

// Windows has no fork().
void notice_forks() {}
void call_in_forked_child(void (* /*function*/)()) {}

long process_number() noexcept { return static_cast<long>(GetCurrentProcessId()); }

bool is_terminal() {
  const HANDLE console = GetStdHandle(STD_OUTPUT_HANDLE);
  DWORD mode = 0;
  return GetConsoleMode(console, &mode) != 0 &&
         SetConsoleMode(console, mode | ENABLE_PROCESSED_OUTPUT | ENABLE_VIRTUAL_TERMINAL_PROCESSING) != 0;
}

bool errors_go_to_terminal() { return _isatty(_fileno(stderr)) != 0; }

void* library_function(const char* library, const char* function) {
  const HMODULE handle = LoadLibraryA(library);
  return handle == nullptr ? nullptr : reinterpret_cast<void*>(GetProcAddress(handle, function));
}

}  // namespace crisol::system
