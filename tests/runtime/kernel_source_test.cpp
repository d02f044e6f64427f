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
