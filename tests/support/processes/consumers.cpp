#include "support/processes/consumers.h"

#include <filesystem>

#include "doctest/doctest.h"
#include "support/files.h"
#include "support/processes/commands.h"

namespace crisol::testing {

namespace fs = std::filesystem;

const char* const consumer_output = "sum 14, gradient 6\ncaught [relu] ";

std::string consumers_folder() { return CRISOL_SOURCE_DIR "/tests/consumer/"; }

std::string without_opencl_headers(const TemporaryFolder& folder) {
  const std::string shadow = folder.path() + "/no_opencl";
  fs::create_directories(shadow + "/CL");
  for (const char* name : {"cl.h", "cl_ext.h", "cl_gl.h", "cl_platform.h", "opencl.h", "opencl.hpp", "cl2.hpp"})
    write_file(shadow + "/CL/" + name, "#error \"a header of OpenCL\"\n");
  return "-I" + shadow;
}

void check_find_package(const TemporaryFolder& folder, const std::string& prefix) {
  const std::string tree = folder.path() + "/find_package";
  run_command({"cmake", "-G", CRISOL_GENERATOR, "-S", consumers_folder() + "find_package", "-B", tree,
               "-DCMAKE_PREFIX_PATH=" + prefix, "-DCMAKE_DISABLE_FIND_PACKAGE_OpenCL=ON",
               "-DCMAKE_CXX_FLAGS=" + without_opencl_headers(folder)});
  run_command({"cmake", "--build", tree});
  CHECK(run_command({tree + "/program"}).rfind(consumer_output, 0) == 0);
}

void check_pkg_config(const TemporaryFolder& folder, const std::string& libraries, const std::string& arguments) {
  NEEDS_COMMANDS("pkg-config", "make", "cc");
  const std::string copy = folder.path() + "/pkg_config";
  fs::create_directory(copy);
  fs::copy(consumers_folder() + "pkg_config/Makefile", copy + "/Makefile");
  for (const char* source : {"/program.cpp", "/program.c"})
    fs::copy(consumers_folder() + source, folder.path() + source);
  const std::string flag = without_opencl_headers(folder);
  run_command({"make", "-C", copy, "PKG_CONFIG=pkg-config " + arguments, "CXX=" CRISOL_CXX_COMPILER " " + flag,
               "CC=cc " + flag},
              {{"PKG_CONFIG_PATH", libraries + "/pkgconfig"}});
  CHECK(run_command({copy + "/program"}).rfind(consumer_output, 0) == 0);
  CHECK(run_command({copy + "/c_program"}).rfind("largest 3\nrefused: [reduce] there is no 'nonsense'", 0) == 0);
}

}  // namespace crisol::testing
