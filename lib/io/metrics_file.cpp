#include <algorithm>
#include <cerrno>
#include <charconv>
#include <cmath>
#include <cstring>
#include <filesystem>
#include <fstream>
#include <nlohmann/json.hpp>
#include <sstream>

#include "base/system.h"
#include "base/text.h"
#include "crisol/io/csv.h"
#include "crisol/training.h"

namespace crisol::training {

namespace {

// The shortest text that reads back as the same number. For a value that came from an f32, the text reads back as the
// same f32, so that 0.1f is written as 0.1.
std::string text_of(const Scalar& value) {
  if (value.dtype() == DType::boolean) return value.as_int() != 0 ? "true" : "false";
  if (value.dtype() == DType::i64) return std::to_string(value.as_int());
  const double number = value.as_double();
  const auto narrow = static_cast<float>(number);
  char text[32];
  const auto end = static_cast<double>(narrow) == number ? std::to_chars(text, text + sizeof text, narrow).ptr
                                                         : std::to_chars(text, text + sizeof text, number).ptr;
  return {text, end};
}

std::string json_row(const Metrics& row) {
  std::string line;
  for (const auto& [name, value] : row)
    line += (line.empty() ? "{" : ", ") + nlohmann::json(name).dump() + ": " +
            (std::isfinite(value.as_double()) ? text_of(value) : "null");
  return line.empty() ? "{}" : line + '}';
}

std::string csv_field(const std::string& name) {
  if (name.find_first_of(",\"\r\n") == name.npos) return name;
  std::string quoted = "\"";
  for (const char c : name) quoted += c == '"' ? "\"\"" : std::string(1, c);
  return quoted + '"';
}

template <class Text>
void write_fields(std::ostream& out, const Metrics& row, Text&& text_of_metric) {
  for (std::size_t i = 0; i < row.size(); ++i) out << (i == 0 ? "" : ",") << text_of_metric(row[i]);
  out << '\n';
}

}  // namespace

struct MetricsFile::State {
  std::string path;
  bool csv = false;
  std::vector<std::string> columns;  ///< The columns of a CSV file. Empty before the first row.
  std::ofstream file;

  [[noreturn]] void refuse() const {
    fail(ErrorCode::io, "MetricsFile", path, " cannot be written: ", std::strerror(errno));
  }
};

MetricsFile::MetricsFile(const std::string& path, bool append) : state_(std::make_unique<State>()) {
  const std::filesystem::path name = system::path_of(path);
  require(name.extension() == ".csv" || name.extension() == ".jsonl", "MetricsFile", path,
          " ends neither with .jsonl nor with .csv");
  state_->path = path;
  state_->csv = name.extension() == ".csv";
  std::error_code error;
  if (append && state_->csv && std::filesystem::file_size(name, error) > 0 && !error)
    state_->columns = io::Csv(path).columns();
  state_->file.open(name, std::ios::binary | (append ? std::ios::app : std::ios::trunc));
  if (!state_->file) state_->refuse();
}

MetricsFile::~MetricsFile() = default;
MetricsFile::MetricsFile(MetricsFile&&) noexcept = default;
MetricsFile& MetricsFile::operator=(MetricsFile&&) noexcept = default;

void MetricsFile::write(const Metrics& row) {
  std::vector<std::string> names;
  for (const auto& [name, value] : row) {
    require(std::find(names.begin(), names.end(), name) == names.end(), "MetricsFile", "\"", name, "\" is there twice");
    names.push_back(name);
  }
  State& state = *state_;
  std::string text;
  if (!state.csv) {
    text = json_row(row) + '\n';
  } else {
    require(!row.empty(), "MetricsFile", "an empty row");
    require(state.columns.empty() || state.columns == names, "MetricsFile", state.path, " has other columns (",
            state.columns.size(), ") than this row (", names.size(), ")");
    std::ostringstream lines;
    if (state.columns.empty()) write_fields(lines, row, [](const auto& metric) { return csv_field(metric.first); });
    write_fields(lines, row, [](const auto& metric) { return text_of(metric.second); });
    text = lines.str();
  }
  if (!(state.file << text << std::flush)) state.refuse();
  state.columns = std::move(names);
}

}  // namespace crisol::training
