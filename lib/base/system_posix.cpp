#include <dlfcn.h>
#include <fcntl.h>
#include <pthread.h>
#include <unistd.h>

#include <cstdio>
#include <cstdlib>
#include <iostream>
#include <new>

#include "base/forked.h"
#include "base/system.h"

namespace crisol::system {

std::string environment(const char* variable) {
  const char* value = std::getenv(variable);
  return value == nullptr ? std::string() : std::string(value);
}

std::string cache_folder() {
  if (const std::string xdg = environment("XDG_CACHE_HOME"); !xdg.empty()) return xdg + "/crisol";
  if (const std::string home = environment("HOME"); !home.empty()) return home + "/.cache/crisol";
  return {};
}

std::FILE* create_file(const std::filesystem::path& path) { return std::fopen(path.c_str(), "wbx"); }

bool flush_to_disk(std::FILE* file) { return std::fflush(file) == 0 && fsync(fileno(file)) == 0; }

void replace_file(const std::filesystem::path& from, const std::filesystem::path& to, std::error_code& error) {
  std::filesystem::rename(from, to, error);
}

void flush_folder(const std::filesystem::path& folder) {
  const int handle = open(folder.empty() ? "." : folder.c_str(), O_RDONLY);
  if (handle < 0) return;
  fsync(handle);
  close(handle);
}

void at_exit(void (*function)()) { std::atexit(function); }

namespace {

#ifdef __GLIBC__
void end_now(int status, void* /*nothing*/) {
  std::cout.flush();
  std::fflush(nullptr);
  _exit(status);
}
#endif

}  // namespace

void notice_forks() {
  call_in_forked_child([] {
    in_forked_child = true;
#ifdef __GLIBC__
    on_exit(end_now, nullptr);  // Handlers run in reverse order, so this handler is the first to run.
#endif
  });
}

void call_in_forked_child(void (*function)()) {
  if (pthread_atfork(nullptr, nullptr, function) != 0) throw std::bad_alloc();
}

long process_number() noexcept { return getpid(); }

bool is_terminal() {
  const std::string kind = environment("TERM");
  return isatty(STDOUT_FILENO) != 0 && !kind.empty() && kind != "dumb";
}

bool errors_go_to_terminal() { return isatty(STDERR_FILENO) != 0; }

void* library_function(const char* library, const char* function) {
  void* const handle = dlopen(library, RTLD_NOW | RTLD_LOCAL);
  return handle == nullptr ? nullptr : dlsym(handle, function);
}

}  // namespace crisol::system
