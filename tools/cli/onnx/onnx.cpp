// `crisol onnx`: models in ONNX files.
#include "crisol/onnx.h"

#include <CLI/CLI.hpp>
#include <functional>
#include <iostream>
#include <memory>

#include "cli/command.h"
#include "cli/onnx/work.h"

namespace crisol::cli {

namespace {

using namespace onnx_command;

struct Options {
  bool json = false;  ///< Of ops.
  InfoOptions info;
  RunOptions run;
  BenchOptions bench;
  CheckFolders check;
  std::function<int()> chosen;  ///< The work of the named subcommand.
};

int print_ops(const Options& options) {
  const std::vector<onnx::SupportedOp> ops = onnx::supported_ops();
  if (options.json)
    std::cout << to_json(ops) << '\n';
  else
    for (const onnx::SupportedOp& op : ops) std::cout << op.name << ' ' << op.first << '-' << op.last << '\n';
  return 0;
}

/// Adds a subcommand that does `work`.
CLI::App* add(CLI::App* command, const std::shared_ptr<Options>& options, const char* name, const char* help,
              std::function<int()> work) {
  CLI::App* subcommand = command->add_subcommand(name, help);
  subcommand->fallthrough();
  subcommand->parse_complete_callback([options = options.get(), work = std::move(work)] { options->chosen = work; });
  return subcommand;
}

void add_inputs(CLI::App* command, InputOptions& own) {
  CLI::Option* shapes =
      command->add_option("--shape", own.shapes, "NAME=1,3,224,224: the sizes of an input; may be repeated")
          ->check(CLI::Validator(fault_of_shape, "NAME=1,3,224,224"))
          ->take_all()
          ->expected(1)
          ->allow_extra_args(false);
  command->add_option("--inputs", own.file, "A safetensors file with the inputs, instead of random numbers and ones")
      ->excludes(shapes);
}

void add_info(CLI::App* command, const std::shared_ptr<Options>& options) {
  InfoOptions& own = options->info;
  CLI::App* info = add(command, options, "info", "Show inputs, outputs, ops and weights of a model",
                       [&own] { return print_info(own); });
  info->add_option("FILE", own.model, "The model")->required();
  CLI::Option* json = info->add_flag("--json", own.json, "Print JSON");
  info->add_flag(
          "--optimized", own.optimized,
          "Show what runs without gradients on the default device instead: what the passes changed, and the nodes "
          "that are left")
      ->excludes(json);
  add_inputs(info, own.inputs);
}

void add_run(CLI::App* command, const std::shared_ptr<Options>& options) {
  RunOptions& own = options->run;
  CLI::App* run =
      add(command, options, "run", "Run a model with tensors from a file", [&own] { return run_model(own); });
  run->add_option("FILE", own.model, "The model")->required();
  run->add_option("--inputs", own.inputs, "A safetensors file with a tensor for each input, by name")->required();
  run->add_option("--outputs", own.outputs, "The safetensors file to write")->required();
}

void add_bench(CLI::App* command, const std::shared_ptr<Options>& options) {
  BenchOptions& own = options->bench;
  CLI::App* timed = add(command, options, "bench", "Time a model", [&own] { return bench_model(own); });
  timed->preparse_callback([](std::size_t) { bench::pin_threads(); });  // Before the first search for devices.
  timed->add_option("FILE", own.model, "The model")->required();
  add_inputs(timed, own.inputs);
  timed->add_flag("--profile", own.profile,
                  "Show the time by op too, of the nodes that the passes leave, each waited for");
  timed->add_option("--repeat", own.effort.repeat, "Runs to time (otherwise as many as fit into --seconds)")
      ->check(CLI::PositiveNumber);
  timed->add_option("--seconds", own.effort.seconds, "Time for the runs, 1 by default")->check(CLI::PositiveNumber);
  timed->add_flag("--json", own.json, "Print JSON");
}

void add_check(CLI::App* command, const std::shared_ptr<Options>& options) {
  CheckFolders& own = options->check;
  CLI::App* check = add(command, options, "check", "Compare a model with the test data beside it",
                        [&own] { return check_folders(own); });
  check->add_option("FOLDER", own.folders, "Folders, each with a model and folders test_data_set_*")->required();
  check->add_option("--rtol", own.tolerance.rtol, "Numbers may differ by atol + rtol |y|; 0.001 by default")
      ->check(CLI::NonNegativeNumber);
  check->add_option("--atol", own.tolerance.atol, "1e-7 by default")->check(CLI::NonNegativeNumber);
  check->add_flag("--json", own.json, "Print JSON");
}

}  // namespace

Command add_onnx(CLI::App& program) {
  const auto options = std::make_shared<Options>();
  CLI::App* command = program.add_subcommand("onnx", "Look at, run, time and check models in ONNX files");
  command->require_subcommand(1);
  command->fallthrough();
  add_info(command, options);
  add_run(command, options);
  add_bench(command, options);
  add_check(command, options);
  CLI::App* ops = add(command, options, "ops", "List the ops that models may use, with their versions",
                      [options = options.get()] { return print_ops(*options); });
  ops->add_flag("--json", options->json, "Print JSON");
  return {command, [options] {
            try {
              return options->chosen();
            } catch (const bench::UsageError& error) {
              std::cerr << "crisol onnx: " << error.what() << '\n';
              return 2;
            }
          }};
}

}  // namespace crisol::cli
