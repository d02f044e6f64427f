#include "cli/suggest.h"

#include <CLI/CLI.hpp>
#include <algorithm>

#include "base/edit_distance.h"
#include "base/text.h"

namespace crisol::cli {

namespace {

std::vector<std::string> commands_of(const CLI::App& parser) {
  std::vector<std::string> names;
  for (const CLI::App* command : parser.get_subcommands([](const CLI::App* app) { return !app->get_group().empty(); }))
    names.push_back(command->get_name());
  return names;
}

/// The options that are allowed at this place: the parser's, and also the program's if the parser lets them through.
std::vector<std::string> options_of(const CLI::App& program, const CLI::App& parser) {
  std::vector<std::string> names;
  for (const CLI::App* app : {&parser, &program})
    for (const CLI::Option* option : app->get_options())
      for (const std::string& name : option->get_lnames()) names.push_back("--" + name);
  return names;
}

}  // namespace

std::string nearest(const std::string& word, const std::vector<std::string>& known) {
  std::string best;
  std::size_t least = std::max<std::size_t>(1, word.size() / 3) + 1;  // More differences than this are another word.
  for (const std::string& one : known) {
    const std::size_t found = edit_distance(word, one);
    if (found >= least) continue;
    least = found;
    best = one;
  }
  return best;
}

std::string did_you_mean(const std::string& word, const std::vector<std::string>& known) {
  const std::string found = nearest(word, known);
  return found.empty() ? "" : concat("; did you mean '", found, "'?");
}

std::string unknown_word(const CLI::App& program, const std::vector<std::string>& words) {
  const CLI::App* parser = &program;
  for (std::size_t i = 0; i < words.size(); ++i) {
    const std::string& word = words[i];
    if (word == "--") return {};
    if (word.starts_with("-")) {
      const std::string name = word.substr(0, word.find('='));
      const CLI::Option* option = parser->get_option_no_throw(name);
      if (option == nullptr) option = program.get_option_no_throw(name);
      if (option == nullptr)
        return concat("there is no option '", name, "' here", did_you_mean(name, options_of(program, *parser)));
      if (option->get_items_expected_min() > 0 && word.find('=') == std::string::npos) ++i;  // Its value.
      continue;
    }
    const std::vector<std::string> commands = commands_of(*parser);
    if (commands.empty()) continue;  // A word of the command's own, such as a case.
    if (std::find(commands.begin(), commands.end(), word) == commands.end())
      return concat("there is no command '", word, "' here", did_you_mean(word, commands));
    parser = parser->get_subcommand(word);
  }
  return {};
}

}  // namespace crisol::cli
