#include "crisol/io/csv.h"

#include <algorithm>
#include <charconv>
#include <cmath>
#include <limits>
#include <map>
#include <set>

#include "io/files/input_file.h"

namespace crisol::io {

namespace {

constexpr std::string_view byte_order_mark = "\xef\xbb\xbf";

struct Cut {
  std::size_t begin, length;
};

/// Cuts the text of a file into rows of fields. A quoted field is written back into the text without its quotes, so
/// that every field is a part of the text.
class Cutter {
 public:
  Cutter(const InputFile& file, std::string& text, char separator) : file_(file), text_(text), separator_(separator) {
    if (const std::size_t zero = text.find('\0'); zero != text.npos)
      file.refuse("a zero byte at position ", zero, ": this is no text");
    if (text.starts_with(byte_order_mark)) at_ = byte_order_mark.size();
  }

  /// The next row that is not empty. No fields after the last row.
  std::vector<Cut> next() {
    std::vector<Cut> fields;
    while (at_ < text_.size() && end_of_line() > 0) {
      at_ += end_of_line();
      ++line_;
    }
    row_line_ = line_;
    if (at_ == text_.size()) return fields;
    for (;;) {
      fields.push_back(at_ < text_.size() && text_[at_] == '"' ? quoted() : plain());
      if (at_ < text_.size() && text_[at_] == separator_) {
        ++at_;
        continue;
      }
      if (at_ < text_.size()) {
        at_ += end_of_line();
        ++line_;
      }
      return fields;
    }
  }

  /// The line on which the last row begins.
  std::int64_t row_line() const noexcept { return row_line_; }

 private:
  // The length of the end of line at the current position; 0 if there is none.
  std::size_t end_of_line() const {
    if (text_[at_] == '\n') return 1;
    return text_.compare(at_, 2, "\r\n") == 0 ? 2 : 0;
  }

  Cut plain() {
    const std::size_t begin = at_;
    for (; at_ < text_.size() && text_[at_] != separator_ && end_of_line() == 0; ++at_)
      if (text_[at_] == '"') file_.refuse("line ", line_, ": a quote inside a field that does not begin with one");
    return {begin, at_ - begin};
  }

  Cut quoted() {
    const std::size_t begin = ++at_;
    const std::int64_t first_line = line_;
    std::size_t end = begin;
    for (;; ++at_) {
      if (at_ == text_.size()) file_.refuse("line ", first_line, ": a quote without its end");
      if (text_[at_] == '"' && text_.compare(at_, 2, "\"\"") != 0) break;
      if (text_[at_] == '"') ++at_;
      if (text_[at_] == '\n') ++line_;
      text_[end++] = text_[at_];
    }
    ++at_;
    if (at_ < text_.size() && text_[at_] != separator_ && end_of_line() == 0)
      file_.refuse("line ", line_, ": text behind the end of a quoted field");
    return {begin, end - begin};
  }

  const InputFile& file_;
  std::string& text_;
  const char separator_;
  std::size_t at_ = 0;
  std::int64_t line_ = 1, row_line_ = 1;
};

// Texts come from the file, so they are shortened to a length that a person can read.
std::string shown(std::string_view text) {
  constexpr std::size_t longest = 60;
  return '"' + std::string(text.substr(0, longest)) + (text.size() > longest ? "…\"" : "\"");
}

}  // namespace

Csv::Csv(const std::string& path, const CsvOptions& options) : path_(path) {
  require(
      options.separator != '"' && options.separator != '\n' && options.separator != '\r' && options.separator != '\0',
      "Csv", "the separator is a quote, a line end or zero");
  InputFile file("csv", path);
  text_ = file.read_all();
  Cutter cutter(file, text_, options.separator);
  for (std::vector<Cut> row = cutter.next(); !row.empty(); row = cutter.next()) {
    if (columns_.empty()) {
      for (std::size_t i = 0; i < row.size(); ++i)
        columns_.push_back(options.header ? text_.substr(row[i].begin, row[i].length) : std::to_string(i));
      if (options.header) continue;
    }
    if (row.size() != columns_.size())
      file.refuse("line ", cutter.row_line(), " has ", row.size(), " fields, the first row has ", columns_.size());
    for (const Cut& field : row) fields_.push_back({field.begin, field.length});
    row_lines_.push_back(cutter.row_line());
  }
  if (columns_.empty()) file.refuse("an empty file");
  std::set<std::string_view> names;
  for (const std::string& name : columns_)
    if (!names.insert(name).second) file.refuse("two columns are named ", shown(name));
  rows_ = static_cast<std::int64_t>(row_lines_.size());
}

std::size_t Csv::column_index(const std::string& column) const {
  const auto found = std::find(columns_.begin(), columns_.end(), column);
  if (found == columns_.end()) {
    std::string all;
    for (std::size_t i = 0; i < std::min<std::size_t>(columns_.size(), 20); ++i)
      all += (i == 0 ? "" : ", ") + shown(columns_[i]);
    fail(ErrorCode::invalid_argument, "csv", path_, ": no column ", shown(column), "; there are ", columns_.size(),
         ": ", all, columns_.size() > 20 ? ", …" : "");
  }
  return static_cast<std::size_t>(found - columns_.begin());
}

std::string_view Csv::field(std::int64_t row, std::size_t column) const {
  const Range& range = fields_[static_cast<std::size_t>(row) * columns_.size() + column];
  return std::string_view(text_).substr(range.begin, range.length);
}

template <class... Parts>
void Csv::refuse(std::int64_t row, std::size_t column, const Parts&... parts) const {
  fail(ErrorCode::io, "csv", path_, ": the row at line ", row_lines_[static_cast<std::size_t>(row)], ", column ",
       shown(columns_[column]), ": ", shown(field(row, column)), parts...);
}

std::string_view Csv::text(std::int64_t row, const std::string& column) const {
  require(row >= 0 && row < rows_, "csv", path_, ": row ", row, " is not in [0, ", rows_, ")");
  return field(row, column_index(column));
}

Tensor Csv::numbers(const std::vector<std::string>& columns, Device device) const {
  std::vector<std::size_t> indices;
  for (const std::string& column : columns) indices.push_back(column_index(column));
  std::vector<float> values;
  values.reserve(static_cast<std::size_t>(rows_) * indices.size());
  for (std::int64_t row = 0; row < rows_; ++row)
    for (const std::size_t column : indices) {
      std::string_view text = field(row, column);
      if (text.starts_with('+')) text.remove_prefix(1);
      double value = 0;
      const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), value);
      if (error == std::errc::invalid_argument || end != text.data() + text.size())
        refuse(row, column, " is not a number");
      if (error != std::errc() || (std::isfinite(value) && std::abs(value) > std::numeric_limits<float>::max()))
        refuse(row, column, " is out of range");
      values.push_back(static_cast<float>(value));
    }
  return from_vector(values, {rows_, static_cast<std::int64_t>(indices.size())}, device);
}

Tensor Csv::numbers_except(const std::vector<std::string>& columns, Device device) const {
  std::set<std::size_t> left_out;
  for (const std::string& column : columns) left_out.insert(column_index(column));
  std::vector<std::string> others;
  for (std::size_t i = 0; i < columns_.size(); ++i)
    if (left_out.count(i) == 0) others.push_back(columns_[i]);
  return numbers(others, device);
}

std::vector<std::string> Csv::class_names(const std::string& column) const {
  const std::size_t index = column_index(column);
  std::set<std::string_view> names;
  for (std::int64_t row = 0; row < rows_; ++row) names.insert(field(row, index));
  return {names.begin(), names.end()};
}

Tensor Csv::classes(const std::string& column, const std::vector<std::string>& names, Device device) const {
  const std::size_t index = column_index(column);
  const std::vector<std::string> all = names.empty() ? class_names(column) : names;
  std::map<std::string_view, std::int64_t> known;
  for (const std::string& name : all) known.emplace(name, static_cast<std::int64_t>(known.size()));
  require(known.size() == all.size(), "csv", "a class is named twice");
  std::vector<std::int64_t> values;
  for (std::int64_t row = 0; row < rows_; ++row) {
    const auto found = known.find(field(row, index));
    if (found == known.end()) refuse(row, index, " is none of the ", all.size(), " classes");
    values.push_back(found->second);
  }
  return from_vector(values, device);
}

}  // namespace crisol::io
