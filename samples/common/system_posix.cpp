#include "common/system.h"

#include <dlfcn.h>
#include <unistd.h>

#include <cstdlib>
#include <stdexcept>

namespace samples {

void use_utf8() {}

bool may_write(const std::string& path) { return access(path.c_str(), W_OK) == 0; }

std::FILE* take_standard_output() {
  std::fflush(stdout);
  std::FILE* before = fdopen(dup(STDOUT_FILENO), "w");
  return before != nullptr && dup2(STDERR_FILENO, STDOUT_FILENO) >= 0 ? before : nullptr;
}

void set_variable(const char* name, const std::string& value) { setenv(name, value.c_str(), 1); }

void* open_library(const char* name) {
  void* const library = dlopen(name, RTLD_NOW | RTLD_GLOBAL);
  if (library == nullptr) throw std::runtime_error(std::string("several ranks need ") + name + ": " + dlerror());
  return library;
}

void* function_of(void* library, const char* name) {
  void* const function = dlsym(library, name);
  if (function == nullptr) throw std::runtime_error(std::string("no function: ") + dlerror());
  return function;
}

}  // namespace samples
