#include "common/json_output.h"

#include <unistd.h>

#include <fstream>
#include <stdexcept>
#include <utility>

#include "common/progress.h"

namespace samples {

JsonOutput::JsonOutput(std::string path) : path_(std::move(path)) {
  if (path_ != "-") {
    check_output(path_, false);
    return;
  }
  // The drivers print to standard output as well, so the descriptor itself is moved.
  std::fflush(stdout);
  standard_output_ = fdopen(dup(STDOUT_FILENO), "w");
  if (standard_output_ == nullptr || dup2(STDERR_FILENO, STDOUT_FILENO) < 0)
    throw std::runtime_error("cannot write the JSON to standard output");
}

JsonOutput::~JsonOutput() {
  if (standard_output_ != nullptr) std::fclose(standard_output_);
}

void JsonOutput::write(const std::string& document) {
  if (standard_output_ != nullptr) {
    last_ = document + '\n';
    return;
  }
  if (path_.empty()) return;
  std::ofstream file(path_);
  file << document << '\n';
  file.close();
  if (!file) throw std::runtime_error("cannot write " + path_);
}

void JsonOutput::finish() {
  if (standard_output_ != nullptr &&
      (std::fputs(last_.c_str(), standard_output_) < 0 || std::fflush(standard_output_) != 0))
    throw std::runtime_error("cannot write the JSON to standard output");
}

}  // namespace samples
