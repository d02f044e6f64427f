// The public headers declare all symbols that a shared library exports. The library exports all symbols of a committed
// list, because a symbol that disappears breaks the binary interface (docs/design.md, "Versions and the binary
// interface"): tests/exported_symbols.txt for libcrisol, tests/dist/exported_symbols.txt for libcrisol_dist.
//
// A release writes the lists again: CRISOL_UPDATE_SYMBOLS=1 build/bin/crisol_tests --test-case='*exported symbols*'
#include <algorithm>
#include <cstdlib>
#include <fstream>
#include <iterator>
#include <regex>
#include <sstream>
#include <string>

#include "crisol/device.h"
#include "doctest/doctest.h"
#include "support/files.h"
#include "support/processes/commands.h"
#include "support/processes/exported.h"
#include "support/processes/subprocess.h"
#include "support/skip.h"

using namespace crisol;
using namespace crisol::testing;

namespace {

Names lines_of(const std::string& text) {
  std::istringstream in(text);
  Names lines;
  for (std::string line; std::getline(in, line);) lines.insert(line);
  return lines;
}

Names missing_from(const Names& some, const Names& others) {
  Names missing;
  std::set_difference(some.begin(), some.end(), others.begin(), others.end(), std::inserter(missing, missing.end()));
  return missing;
}

/// The words of the public headers after preprocessing, so that the macros of pointwise.def have become functions.
Names words_of_headers() {
  const std::string include = CRISOL_SOURCE_DIR "/include";
  std::vector<std::string> command{CRISOL_CXX_COMPILER, "-std=c++17", "-E", "-I" + include};
  for (const char* header :
       {"opencl_interop.h", "ops.h", "host_access.h", "graph_parts.h", "onnx_parts.h", "replay_calls.h",
        "captured_function.h", "nn/identity.h", "dist.h", "c/crisol.h", "c/dist.h", "c/interop.h"})
    command.insert(command.end(), {"-include", include + "/crisol/" + header});
  command.insert(command.end(), {"-x", "c++", include + "/crisol/crisol.h"});
  const ProcessResult result = run_program("/usr/bin/env", command);
  REQUIRE_MESSAGE(result.status == 0, result.output.substr(0, 2000));
  static const std::regex word(R"([A-Za-z_]\w*)");
  Names words;
  bool ours = false;                     // Lines of the form `# 12 "file"` name the source of the lines after them.
  std::istringstream lines(result.out);  // Without standard error, whose warnings could cut a word in two.
  for (std::string line; std::getline(lines, line);)
    if (line.starts_with("# "))
      ours = line.find("/include/crisol/") != std::string::npos;
    else if (ours)
      for (std::sregex_iterator at(line.begin(), line.end(), word), end; at != end; ++at) words.insert(at->str());
  return words;
}

/// The words of a function's name without its parameters, for example crisol, Tensor, add_.
Names words_of_name(const std::string& symbol) {
  static const std::regex tag(R"(\[abi:\w+\])"), word(R"([A-Za-z_]\w*)");
  const std::string name = std::regex_replace(symbol.substr(0, symbol.find('(')), tag, "");
  return {std::sregex_token_iterator(name.begin(), name.end(), word), std::sregex_token_iterator()};
}

void check_symbols(const std::string& library, const std::string& list_path) {
  const Names exported = exported_symbols(library);
  CHECK(exported.size() > 50);
  if (std::getenv("CRISOL_UPDATE_SYMBOLS") != nullptr) {
    std::ofstream list(list_path);
    for (const std::string& name : exported) list << name << '\n';
  }
  const Names listed = lines_of(read_file(list_path));
  for (const std::string& name : missing_from(listed, exported)) FAIL_CHECK("listed, and not exported: ", name);

  const Names declared = words_of_headers();
  for (const std::string& name : exported)
    for (const std::string& word : missing_from(words_of_name(name), declared))
      FAIL_CHECK("no public header has the word ", word, " of: ", name);
}

}  // namespace

TEST_CASE("exported symbols: public headers declare them, and none of the committed list is missing") {
  if (std::string(CRISOL_SHARED_LIBRARY).empty()) CRISOL_SKIP("a static library exports nothing");
  if (Device().info().platform != "Portable Computing Language") CRISOL_SKIP("the same for all; done on PoCL");
  NEEDS_COMMANDS("nm", CRISOL_CXX_COMPILER);
  check_symbols(CRISOL_SHARED_LIBRARY, CRISOL_SOURCE_DIR "/tests/exported_symbols.txt");
}

TEST_CASE("exported symbols: libcrisol_dist") {
  if (std::string(CRISOL_DIST_LIBRARY).empty()) CRISOL_SKIP("libcrisol_dist is not built, because MPI is missing");
  if (Device().info().platform != "Portable Computing Language") CRISOL_SKIP("the same for all; done on PoCL");
  NEEDS_COMMANDS("nm", CRISOL_CXX_COMPILER);
  check_symbols(CRISOL_DIST_LIBRARY, CRISOL_SOURCE_DIR "/tests/dist/exported_symbols.txt");
}
