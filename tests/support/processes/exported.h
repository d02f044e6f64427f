// The symbols that a shared library exports.
#pragma once

#include <regex>
#include <set>
#include <sstream>
#include <string>

#include "doctest/doctest.h"
#include "support/processes/subprocess.h"

namespace crisol::testing {

using Names = std::set<std::string>;

inline std::string replace_all(std::string text, const std::string& from, const std::string& to) {
  for (std::size_t at = 0; (at = text.find(from, at)) != std::string::npos; at += to.size())
    text.replace(at, from.size(), to);
  return text;
}

/// Functions and variables. Symbols that compilers place freely are left out: weak instances of templates and inline
/// functions, and tables of virtual functions and types.
inline Names exported_symbols(const std::string& library) {
  const ProcessResult result = run_program("/usr/bin/env", {"nm", "-D", "--defined-only", "-C", library});
  REQUIRE_MESSAGE(result.status == 0, result.output);
  static const std::regex strong(R"([0-9a-f]+ [TDBR] (.*))");
  static const std::regex table("(vtable|typeinfo|typeinfo name|VTT|construction vtable) for .*");
  Names names;
  std::istringstream lines(result.out);  // Without standard error, whose warnings could cut a word in two.
  std::smatch match;
  for (std::string line; std::getline(lines, line);) {
    if (!std::regex_match(line, match, strong) || std::regex_match(match.str(1), table)) continue;
    static const std::string string = "std::__cxx11::basic_string<char, std::char_traits<char>, std::allocator<char> >";
    names.insert(replace_all(match[1], string, "std::string"));
  }
  return names;
}

}  // namespace crisol::testing
