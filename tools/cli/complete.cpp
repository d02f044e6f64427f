// `crisol complete`: prints the words that may follow the words typed so far. The shells' completions call it.
#include <CLI/CLI.hpp>
#include <iostream>
#include <memory>
#include <string>
#include <vector>

#include "cli/bench/case.h"
#include "cli/command.h"

namespace crisol::cli {

namespace {

void print_bench_words(const std::string& typed_case) {
  for (const bench::Case* one : bench::cases()) {
    if (typed_case.empty()) std::cout << one->name << '\n';
    if (typed_case != one->name) continue;
    for (const bench::Key& key : one->keys) std::cout << key.name << "=\n";
  }
}

int complete(const CLI::App& program, const std::vector<std::string>& typed) {
  const CLI::App* parser = &program;
  std::string last;
  for (const std::string& word : typed) {
    if (word.empty() || word.front() == '-' || word.find('=') != std::string::npos) continue;
    const auto named = [&](const CLI::App* app) { return app->get_name() == word; };
    if (const auto next = parser->get_subcommands(named); !next.empty()) parser = next.front();
    last = word;
  }
  for (const CLI::App* command : parser->get_subcommands([](const CLI::App* app) { return !app->get_group().empty(); }))
    std::cout << command->get_name() << '\n';
  // `crisol onnx bench` takes other words.
  if (const std::string name = parser->get_name();
      parser->get_parent() == &program && (name == "bench" || name == "tune"))
    print_bench_words(last == name ? "" : last);
  for (const CLI::Option* option : parser->get_options())
    for (const std::string& name : option->get_lnames()) std::cout << "--" << name << '\n';
  return 0;
}

}  // namespace

Command add_complete(CLI::App& program) {
  const auto typed = std::make_shared<std::vector<std::string>>();
  CLI::App* command = program.add_subcommand("complete", "Print the words that may follow these");
  command->group("");  // Hidden from the help.
  command->add_option("word", *typed);
  command->positionals_at_end();
  return {command, [&program, typed] { return complete(program, *typed); }};
}

}  // namespace crisol::cli
