// The sample's program, as users run it.
#pragma once

#include <string>
#include <vector>

#include "support/subprocess.h"

namespace crisol::testing {

/// Where `mnist` lies, beside this program; empty when it is not built.
std::string mnist_program();

/// Runs it on the default device's platform; variables as in run_program.
ProcessResult run_mnist(const std::vector<std::string>& arguments, const Environment& environment = {});

/// Training runs at some ten images a second here (llvmpipe, whose loops are slow): a few images must do.
bool few_images_only();

}  // namespace crisol::testing

/// Leaves the test case where the program cannot be run.
#define NEEDS_MNIST()                                                                           \
  do {                                                                                          \
    if (crisol::testing::mnist_program().empty()) CRISOL_SKIP("the mnist sample is not built"); \
    if (crisol::testing::slow_device()) CRISOL_SKIP("a training takes too long here");          \
  } while (false)
