// Files that tests write, and the text of refusals.
#pragma once

#include <fstream>
#include <iterator>
#include <sstream>
#include <string>
#include <vector>

#include "base/system.h"
#include "crisol/error.h"
#include "doctest/doctest.h"

namespace crisol::testing {

inline void write_file(const std::string& path, const std::string& bytes) {
  std::ofstream(system::path_of(path), std::ios::binary)
      .write(bytes.data(), static_cast<std::streamsize>(bytes.size()));
}

inline std::string read_file(const std::string& path) {
  std::ifstream file(system::path_of(path), std::ios::binary);
  return {std::istreambuf_iterator<char>(file), {}};
}

inline std::vector<std::string> lines_of(const std::string& text) {
  std::vector<std::string> lines;
  std::istringstream in(text);
  for (std::string line; std::getline(in, line);) lines.push_back(line);
  return lines;
}

/// The text of the Error with this code that the function throws. Another text if it throws nothing or something else.
template <class Function>
doctest::String refusal(ErrorCode code, Function&& function) {
  try {
    function();
  } catch (const Error& error) {
    if (error.code() == code) return {error.what()};
    return doctest::String("error of code ") + name_of(error.code()) + ": " + error.what();
  }
  return "nothing thrown";
}

}  // namespace crisol::testing
