#include "common/system.h"

#include <io.h>
#include <windows.h>

#include <cstdlib>
#include <stdexcept>

namespace samples {

void use_utf8() { SetConsoleOutputCP(CP_UTF8); }

bool may_write(const std::string& path) {
  constexpr int for_writing = 2;
  return _access(path.c_str(), for_writing) == 0;
}

std::FILE* take_standard_output() {
  std::fflush(stdout);
  std::FILE* before = _fdopen(_dup(_fileno(stdout)), "w");
  return before != nullptr && _dup2(_fileno(stderr), _fileno(stdout)) >= 0 ? before : nullptr;
}

void set_variable(const char* name, const std::string& value) { _putenv_s(name, value.c_str()); }

void* open_library(const char* name) {
  throw std::runtime_error(std::string("several ranks need ") + name + ", which Windows does not have");
}

void* function_of(void*, const char* name) { throw std::runtime_error(std::string("no function ") + name); }

}  // namespace samples
