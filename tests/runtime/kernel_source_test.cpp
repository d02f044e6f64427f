// Rules for the source of all kernels, so that any driver can compile it.
#include "runtime/program/kernel_source.h"

#include <regex>
#include <sstream>
#include <string>

#include "doctest/doctest.h"

using namespace crisol;

// A function that is only `inline` has no external body (C99). If the compiler does not inline a call, linking fails.
TEST_CASE("functions of kernels are static or always inlined") {
  const std::regex inline_alone(R"re((^|[^"_\w])inline\b)re");
  const std::regex has_body(R"(\bstatic inline\b|\binline __attribute__\(\(always_inline\)\))");
  int functions = 0;
  for (const auto& [name, text] : runtime::embedded_kernels()) {
    std::istringstream lines{std::string(text)};
    for (std::string line; std::getline(lines, line);) {
      const std::string code = line.substr(0, line.find("//"));
      if (code.find("#include") == 0 || !std::regex_search(code, inline_alone)) continue;
      CAPTURE(std::string(name));
      CAPTURE(line);
      CHECK(std::regex_search(code, has_body));
      ++functions;
    }
  }
  CHECK(functions > 50);
}

TEST_CASE("an include under a condition that does not hold hides no later include of the same file") {
  const std::string_view file = runtime::embedded_kernels().at("common/inline.h");
  const auto files_in = [&](const std::string& prelude) {
    const std::string text = runtime::expanded_source(prelude, {});
    int count = 0;
    for (std::size_t at = text.find(file); at != std::string::npos; at = text.find(file, at + 1)) ++count;
    return count;
  };
  const std::string include = "#include \"common/inline.h\"\n", condition = "#ifdef NEVER\n", end = "#endif\n";
  CHECK(files_in(include + include) == 1);
  CHECK(files_in(include + condition + include + end) == 1);
  CHECK(files_in(condition + include + include + end) == 1);
  CHECK(files_in(condition + include + "#else\n" + include + end) == 2);
  CHECK(files_in(condition + include + end + include + include) == 2);
  CHECK(files_in("  # if 0\n" + include + end + condition + include + end) == 2);
  // The macro keeps the second text from the compiler where the condition holds.
  const std::string twice = runtime::expanded_source(condition + include + end + include, {});
  CHECK(twice.find("#ifndef INCLUDED_common_inline_h\n") != twice.rfind("#ifndef INCLUDED_common_inline_h\n"));
}
