// The page's table of supported ops is the importer's table.
#include <map>
#include <regex>
#include <sstream>

#include "doctest/doctest.h"
#include "onnx/ops/table.h"
#include "support/files.h"

using namespace crisol;

namespace {

/// The first version of each op, by docs/onnx.md. Ops of another domain than ai.onnx have the domain before their name.
std::map<std::string, std::int64_t> ops_of_page() {
  static const std::regex row(R"(\n\| ((?:[a-z]+\.)*[A-Z][A-Za-z0-9]+) \| (\d+) \|)");
  const std::string page = testing::read_file(CRISOL_SOURCE_DIR "/docs/onnx.md");
  std::map<std::string, std::int64_t> ops;
  for (std::sregex_iterator at(page.begin(), page.end(), row), end; at != end; ++at) {
    const std::string name = (*at)[1];
    CHECK_MESSAGE(ops.emplace(name, std::stoll((*at)[2])).second, name << " is there twice");
  }
  return ops;
}

}  // namespace

TEST_CASE("onnx: the page lists the ops of the tables, which cover all versions without a gap") {
  std::map<std::string, std::int64_t> first{{"Constant", 1}}, last;  // The importer itself makes constants.
  for (const onnx::Row& row : onnx::all_rows()) {
    const std::string domain = row.domain, name = domain.empty() ? row.name : domain + '.' + row.name;
    first.emplace(name, row.first);
    const auto [at, is_new] = last.emplace(name, row.last);
    if (!is_new) CHECK_MESSAGE(row.first == at->second + 1, name << " has a gap");
    at->second = row.last;
  }
  for (const auto& [name, version] : last) {
    if (name.starts_with(onnx::ml_domain))
      CHECK_MESSAGE(version == onnx::newest_ml_version, name);
    else if (name.find('.') == std::string::npos)
      CHECK_MESSAGE(version == onnx::newest_version, name);
  }
  CHECK(first.size() > 70);
  CHECK(ops_of_page() == first);
}
