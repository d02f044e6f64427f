// The work of the subcommands of `crisol onnx`. Each returns the exit status.
#pragma once

#include <string>
#include <vector>

#include "cli/bench/measure.h"
#include "crisol/onnx.h"

namespace crisol::cli::onnx_command {

/// The name in quotes, with control characters escaped: it comes from a file, and could drive a terminal.
std::string in_quotes(const std::string& name);
/// A line such as `"x": f32 (1, 3)`.
std::string describe(const std::string& name, const Tensor& tensor);

struct RunOptions {
  std::string model, inputs, outputs;
};
int run_model(const RunOptions& options);

/// The source of a model's inputs.
struct InputOptions {
  std::string file;                 ///< A safetensors file; without one, random numbers and ones.
  std::vector<std::string> shapes;  ///< "NAME=1,3,224,224".
};
NamedTensors inputs_of(const onnx::Model& model, const InputOptions& options);

struct InfoOptions {
  std::string model;
  InputOptions inputs;
  bool json = false, optimized = false;
};
int print_info(const InfoOptions& options);

struct BenchOptions {
  std::string model;
  InputOptions inputs;
  bench::Effort effort;
  bool json = false, profile = false;
};
/// Refuses a text that is not of the form NAME=1,3,224,224. Empty if it is fine.
std::string fault_of_shape(const std::string& text);
int bench_model(const BenchOptions& options);

struct CheckFolders {
  std::vector<std::string> folders;
  onnx::CheckOptions tolerance;
  bool json = false;
};
int check_folders(const CheckFolders& options);

}  // namespace crisol::cli::onnx_command
