// licences/README.md names every library whose headers the sources include, with a text that exists.
#include <filesystem>
#include <regex>
#include <set>
#include <string>

#include "doctest/doctest.h"
#include "support/files.h"

using crisol::testing::read_file;

namespace {

namespace fs = std::filesystem;

const std::string root = CRISOL_SOURCE_DIR;

/// Headers that come with an operating system, a compiler, CUDA, MPI or ONNX Runtime. No package contains them.
bool is_of_system(const std::string& header) {
  static const std::regex system(
      R"((sys|linux)/.*|windows\.h|io\.h|share\.h|cxxabi\.h|corecrt_startup\.h|unistd\.h|fcntl\.h|dlfcn\.h|pthread\.h|poll\.h|sched\.h|mpi\.h|std(io|int|lib|def|arg)\.h|string\.h|math\.h|signal\.h|onnxruntime_c_api\.h|cu(blas_v2|da_runtime|da_fp16|dnn)\.h)");
  return std::regex_match(header, system);
}

/// The table's name of a header: its folder ("nlohmann/"), or the header itself. Empty for headers that need no row.
std::string row_of(const std::string& header) {
  if (header.find('.') == std::string::npos || header.starts_with("crisol/") || is_of_system(header)) return {};
  const std::size_t folder = header.find('/');
  return folder == std::string::npos ? header : header.substr(0, folder + 1);
}

std::set<std::string> headers_of_others() {
  static const std::regex include(R"(#[ \t]*include[ \t]*<([^>]+)>)");
  std::set<std::string> found;
  for (const char* folder : {"/lib", "/include", "/samples"})
    for (const auto& entry : fs::recursive_directory_iterator(root + folder)) {
      if (!entry.is_regular_file()) continue;
      const std::string text = read_file(entry.path().string());
      for (std::sregex_iterator at(text.begin(), text.end(), include), end; at != end; ++at)
        if (const std::string row = row_of((*at)[1]); !row.empty()) found.insert(row);
    }
  return found;
}

}  // namespace

TEST_CASE("licences: every library that packages contain has a row and a text") {
  const std::string page = read_file(root + "/licences/README.md");
  const std::set<std::string> headers = headers_of_others();
  CHECK(headers.size() >= 5);
  for (const std::string& header : headers)
    CHECK_MESSAGE(page.find("| `" + header + "` |") != std::string::npos, header << " has no row");
  static const std::regex row(R"(\n\| [^|]+ \| `([^`]+)` \| [^|]+ \| [^|]+ \(\[text\]\(([^)]+)\)\) \|)");
  std::size_t rows = 0;
  for (std::sregex_iterator at(page.begin(), page.end(), row), end; at != end; ++at, ++rows) {
    CHECK_MESSAGE(headers.count((*at)[1]) == 1, (*at)[1].str() << " has a row, and nothing includes it");
    const std::string text = read_file(root + "/licences/" + (*at)[2].str());
    const bool is_licence = text.find("WARRANT") != std::string::npos || text.find("warranty") != std::string::npos;
    CHECK_MESSAGE(is_licence, (*at)[2].str() << " is no licence");
  }
  CHECK(rows == headers.size());
}
