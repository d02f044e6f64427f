// Questions that each operating system answers in its own way: platform_posix.cpp and platform_windows.cpp.
#pragma once

#include <filesystem>
#include <string>
#include <vector>

#include "cli/doctor/doctor.h"

namespace crisol::cli::doctor {

/// "memory" and "available_memory" in bytes; 0 where the system does not tell.
Json memory_facts();
/// "system" and "kernel": their names and versions.
Json system_names();
/// The environment, each as NAME=VALUE.
std::vector<std::string> all_variables();

/// "this user", "root", "another user" or "unknown"; not the name, which is private.
std::string owner_of(const std::filesystem::path& path);

/// An implementation's library, and the file, variable or key that names it.
struct Registration {
  std::string file, library;
};

/// The implementations that are registered for OpenCL's loader.
std::vector<Registration> registrations();
/// The place where the loader looks for all of them. Empty if the loader also looks elsewhere. Then an empty list of
/// drivers proves nothing.
std::string place_of_registrations();

/// The file of OpenCL's loader; "unknown" where this process has none.
std::string path_of_loader();
/// A function of OpenCL's loader, or null if there is none.
void* loader_function(const char* name);
/// Loads a library as the loader does. Throws the reason if it does not load.
void* load_library(const std::string& library);
void* library_function(void* library, const char* name);

/// Names of variables, and what to do where no driver is registered, or none shows a device.
struct Words {
  const char *home, *user, *cache_variables, *no_driver, *no_device;
};
extern const Words words;

}  // namespace crisol::cli::doctor
