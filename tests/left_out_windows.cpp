// Names the test files that are not built for Windows, so that each run lists them as skipped.
#include <sstream>
#include <string>

#include "doctest/doctest.h"
#include "support/skip.h"

TEST_CASE("test files that are left out on Windows") {
  std::istringstream lines(
#include "left_out.h"
  );
  for (std::string line; std::getline(lines, line);)
    if (!line.empty()) crisol::testing::note_skip(line);
}
