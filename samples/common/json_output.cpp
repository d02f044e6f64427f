#include "common/json_output.h"

#include <fstream>
#include <stdexcept>
#include <utility>

#include "common/check_output.h"
#include "common/system.h"

namespace samples {

JsonOutput::JsonOutput(std::string path) : path_(std::move(path)) {
  if (path_ != "-") {
    check_output(path_, false);
    return;
  }
  standard_output_ = take_standard_output();
  if (standard_output_ == nullptr) throw std::runtime_error("cannot write the JSON to standard output");
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
