#include "cli/suggest.h"

#include <CLI/CLI.hpp>
#include <algorithm>

#include "base/text.h"

namespace crisol::cli {

namespace {

std::size_t differences(const std::string& a, const std::string& b) {
  std::vector<std::vector<std::size_t>> table(a.size() + 1, std::vector<std::size_t>(b.size() + 1));
  for (std::size_t i = 0; i <= a.size(); ++i) {
    for (std::size_t j = 0; j <= b.size(); ++j) {
      if (i == 0 || j == 0) {
        table[i][j] = i + j;
        continue;
      }
      table[i][j] =
          std::min({table[i - 1][j] + 1, table[i][j - 1] + 1, table[i - 1][j - 1] + (a[i - 1] == b[j - 1] ? 0 : 1)});
      if (i > 1 && j > 1 && a[i - 1] == b[j - 2] && a[i - 2] == b[j - 1])
        table[i][j] = std::min(table[i][j], table[i - 2][j - 2] + 1);
    }
  }
  return table[a.size()][b.size()];
}

std::vector<std::string> commands_of(const CLI::App& parser) {
  std::vector<std::string> names;
  for (const CLI::App* command : parser.get_subcommands([](const CLI::App* app) { return !app->get_group().empty(); }))
    names.push_back(command->get_name());
  return names;
}

/// The options that may stand at this place: the parser's, and the program's where the parser lets them through.
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
    const std::size_t found = differences(word, one);
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
