#include "samples/mnist_program.h"

#include <filesystem>

#include "crisol/device.h"

namespace crisol::testing {

std::string mnist_program() {
  const auto path = std::filesystem::read_symlink("/proc/self/exe").parent_path() / "mnist";
  return std::filesystem::exists(path) ? path.string() : std::string();
}

ProcessResult run_mnist(const std::vector<std::string>& arguments, const Environment& environment) {
  Environment all{{"CRISOL_DEVICE", Device().info().platform}};
  all.insert(all.end(), environment.begin(), environment.end());
  return run_program(mnist_program(), arguments, all);
}

bool few_images_only() { return Device().info().platform == "rusticl"; }

}  // namespace crisol::testing
