// "Did you mean": the known word that a mistyped word resembles.
#pragma once

#include <string>
#include <vector>

namespace CLI {
class App;
}

namespace crisol::cli {

/// The known word with the fewest differing letters, or an empty text if none is close. One letter too many, too few,
/// wrong or swapped with its neighbour counts as one difference.
std::string nearest(const std::string& word, const std::vector<std::string>& known);

/// "; did you mean 'devices'?", or an empty text.
std::string did_you_mean(const std::string& word, const std::vector<std::string>& known);

/// The first word of a command line that is no command or option at its place, with a suggestion. Empty if there is no
/// such word.
std::string unknown_word(const CLI::App& program, const std::vector<std::string>& words);

}  // namespace crisol::cli
