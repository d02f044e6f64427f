#include "runtime/verbose.h"

#include <cstdio>

#include "base/system.h"

namespace crisol::runtime {

namespace {

unsigned parse_topics(const std::string& words) {
  unsigned topics = 0;
  std::istringstream stream(words);
  for (std::string word; std::getline(stream, word, ',');) {
    if (word == "device")
      topics |= static_cast<unsigned>(Topic::device);
    else if (word == "build")
      topics |= static_cast<unsigned>(Topic::build);
    else if (word == "dispatch")
      topics |= static_cast<unsigned>(Topic::dispatch);
    else if (word == "launch")
      topics |= static_cast<unsigned>(Topic::launch);
    else if (word == "memory")
      topics |= static_cast<unsigned>(Topic::memory);
    else if (word == "all" || word == "1")
      topics = ~0u;
    else if (!word.empty() && word != "0")
      log_line("CRISOL_VERBOSE: unknown word '" + word + "'; known: device, build, dispatch, launch, memory, all");
  }
  return topics;
}

}  // namespace

std::string environment(const char* variable) { return system::environment(variable); }

bool verbose(Topic topic) noexcept {
  static const unsigned topics = parse_topics(environment("CRISOL_VERBOSE"));
  return (topics & static_cast<unsigned>(topic)) != 0;
}

void log_line(const std::string& text) {
  const std::string line = "crisol: " + text + '\n';
  std::fwrite(line.data(), 1, line.size(), stderr);
}

}  // namespace crisol::runtime
