#include "support/processes/commands.h"

#include "doctest/doctest.h"

namespace crisol::testing {

std::string run_command(const std::vector<std::string>& words, const Environment& environment) {
  const ProcessResult result = run_program("/usr/bin/env", words, environment);
  std::string line;
  for (const std::string& word : words) line += word + " ";
  CAPTURE(line);
  CAPTURE(result.output);
  REQUIRE(result.status == 0);
  return result.output;
}

}  // namespace crisol::testing
