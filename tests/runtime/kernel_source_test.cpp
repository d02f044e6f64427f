// What the texts of all kernels keep to, so that any driver may compile them.
#include "runtime/kernel_source.h"

#include <regex>
#include <sstream>
#include <string>

#include "doctest/doctest.h"

using namespace crisol;

TEST_CASE("functions of kernels are static: one that is inline alone has no body for a call that is left") {
  const std::regex inline_alone(R"re((^|[^"_\w])inline\b)re"), inline_static(R"(\bstatic inline\b)");
  int functions = 0;
  for (const auto& [name, text] : runtime::embedded_kernels()) {
    std::istringstream lines{std::string(text)};
    for (std::string line; std::getline(lines, line);) {
      const std::string code = line.substr(0, line.find("//"));
      if (code.find("#include") == 0 || !std::regex_search(code, inline_alone)) continue;
      CAPTURE(std::string(name));
      CAPTURE(line);
      CHECK(std::regex_search(code, inline_static));
      ++functions;
    }
  }
  CHECK(functions > 50);
}
