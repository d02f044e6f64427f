// The C interface is complete: each exported C++ function has a C function of its name or a row of
// tests/c_api/cpp_names.txt.
#include <algorithm>
#include <map>
#include <regex>
#include <sstream>
#include <string>
#include <vector>

#include "crisol/c/crisol.h"
#include "doctest/doctest.h"
#include "support/files.h"
#include "support/processes/commands.h"
#include "support/processes/exported.h"
#include "support/skip.h"

using namespace crisol;
using namespace crisol::testing;

namespace {

struct Exported {
  Names c, cpp;
};

/// The names that the library exports. C++ names have no parameters and no "crisol::".
Exported exported() {
  static const std::regex tag(R"(\[abi:\w+\])");
  Exported names;
  for (const std::string& symbol : exported_symbols(CRISOL_SHARED_LIBRARY)) {
    const std::string line = std::regex_replace(symbol.substr(0, symbol.find('(')), tag, "");
    if (line.starts_with("crisol_"))
      names.c.insert(line);
    else if (line.starts_with("crisol::"))
      names.cpp.insert(line.substr(8));
  }
  return names;
}

/// By C++ name: C functions, or "-" and a reason.
using Rows = std::multimap<std::string, std::vector<std::string>>;

Rows rows() {
  Rows rows;
  std::istringstream lines(read_file(CRISOL_SOURCE_DIR "/tests/c_api/cpp_names.txt"));
  for (std::string line; std::getline(lines, line);) {
    if (line.empty() || line.front() == '#') continue;
    std::istringstream in(line);
    std::string name;
    in >> name;
    std::vector<std::string> rest;
    for (std::string word; in >> word;) rest.push_back(word);
    CHECK_MESSAGE(rest.size() > (rest.empty() || rest[0] == "-" ? 1 : 0),
                  name << " has neither functions nor a reason");
    CHECK_MESSAGE((name == "C" || rows.count(name) == 0), name << " has two rows");
    rows.emplace(name, rest);
  }
  return rows;
}

Names by_name() {
  Names names;
  for (const char* list : {crisol_pointwise_names(), crisol_reduce_names()}) {
    std::istringstream words(list);
    for (std::string word; words >> word;) names.insert({word, "Tensor::" + word + "_"});
  }
  return names;
}

/// The row of a C++ name: itself, or the longest one with "*" that fits. Empty if there is none.
std::string row_of(const std::string& name, const Rows& all) {
  if (all.count(name) > 0) return name;
  std::string best;
  for (const auto& [row, words] : all)
    if (row.ends_with('*') && name.starts_with(row.substr(0, row.size() - 1)) && row.size() > best.size()) best = row;
  return best;
}

}  // namespace

TEST_CASE("C: every exported C++ function has a C function, or a reason for none") {
  if (std::string(CRISOL_SHARED_LIBRARY).empty()) CRISOL_SKIP("a static library exports nothing");
  NEEDS_COMMANDS("nm");
  const Exported names = exported();
  const Rows all = rows();
  const Names listed = by_name();
  CHECK(names.cpp.size() > 300);
  Names used, of_c;
  for (const std::string& name : names.cpp) {
    if (listed.count(name) > 0) continue;
    constexpr std::string_view member = "Tensor::";
    const std::string function = name.starts_with(member) ? name.substr(member.size()) : "";
    if (names.c.count("crisol_" + name) > 0) of_c.insert("crisol_" + name);
    const std::string row = row_of(name, all);
    if (row.empty() && names.c.count("crisol_" + name) > 0) continue;
    if (row.empty() && (listed.count(function) > 0 || names.cpp.count(function) > 0)) continue;
    CHECK_MESSAGE(!row.empty(), "there is no crisol_" << name << ", and cpp_names.txt has no row for " << name);
    used.insert(row);
  }
  for (const auto& [name, words] : all) {
    CHECK_MESSAGE((name == "C" || used.count(name) == 1), "no exported C++ function fits the row " << name);
    CHECK_MESSAGE((words.size() > 1 || words[0] != "crisol_" + name), "the row " << name << " says nothing");
    if (words[0] != "-") of_c.insert(words.begin(), words.end());
  }
  for (const std::string& name : names.c) CHECK_MESSAGE(of_c.count(name) == 1, "no row names " << name);
  for (const std::string& name : of_c)
    CHECK_MESSAGE(names.c.count(name) == 1, "a row names " << name << ", which is not exported");
}
