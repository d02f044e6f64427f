// `crisol onnx`: models in ONNX files.
#include "crisol/onnx.h"

#include <CLI/CLI.hpp>
#include <iostream>
#include <memory>

#include "cli/command.h"

namespace crisol::cli {

namespace {

int print_info(const std::string& path, bool json) {
  const onnx::ModelInfo info = onnx::read_info(path);
  if (json)
    std::cout << to_json(info) << '\n';
  else
    std::cout << info;
  return 0;
}

}  // namespace

Command add_onnx(CLI::App& program) {
  const auto path = std::make_shared<std::string>();
  const auto json = std::make_shared<bool>(false);
  CLI::App* command = program.add_subcommand("onnx", "Look at models in ONNX files");
  command->require_subcommand(1);
  command->fallthrough();
  CLI::App* info = command->add_subcommand("info", "Show inputs, outputs, ops and weights of a model");
  info->add_option("FILE", *path, "The model")->required();
  info->add_flag("--json", *json, "Print JSON");
  info->fallthrough();
  return {command, [=] { return print_info(*path, *json); }};
}

}  // namespace crisol::cli
