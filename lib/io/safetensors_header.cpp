#include "io/safetensors_header.h"

#include <algorithm>
#include <array>
#include <limits>
#include <nlohmann/json.hpp>
#include <optional>
#include <unordered_set>

#include "base/text.h"
#include "crisol/dtype_table.h"

namespace crisol::io {
namespace {

constexpr const char* metadata_key = "__metadata__";
std::string supported_dtypes() {
  std::string names;
  for (const DTypeRow& row : dtype_rows)
    names += concat(names.empty() ? "" : &row == &dtype_rows.back() ? " and " : ", ", row.code);
  return names;
}

const char* format_name(DType dtype) { return dtype_row(dtype).code; }

std::optional<DType> dtype_named(std::string_view name) {
  for (const DType dtype : all_dtypes)
    if (name == format_name(dtype)) return dtype;
  return std::nullopt;
}

// Names come from the file, so they are quoted and shortened to a length that a person can read.
std::string in_quotes(const std::string& name) {
  constexpr std::size_t longest = 80;
  return '"' + (name.size() > longest ? name.substr(0, longest) + "…" : name) + '"';
}

/// Accepts only the structure of a header while it reads the text. A malicious header is rejected at the first error,
/// before a tree is built in memory. The reader also finds keys that appear twice.
class HeaderReader final : public nlohmann::json_sax<nlohmann::json> {
 public:
  HeaderReader(SafetensorsHeader& header, const std::string& path) : header_(header), path_(path) {}

  bool null() override { unexpected("null"); }
  bool boolean(bool) override { unexpected("a boolean"); }
  bool number_integer(number_integer_t value) override { refuse(here(), " holds the negative number ", value); }
  bool number_float(number_float_t, const string_t& text) override {
    refuse(here(), " holds ", text.substr(0, 40), ", which is no integer of 64 bits");
  }
  bool binary(binary_t&) override { unexpected("binary data"); }

  bool number_unsigned(number_unsigned_t value) override {
    if (place_ == Place::shape) {
      if (value > static_cast<number_unsigned_t>(std::numeric_limits<std::int64_t>::max()))
        refuse(here(), " holds ", value, ", at most 2^63-1 allowed");
      if (entry().shape.rank() == Shape::max_rank) refuse(here(), " has more than ", Shape::max_rank, " sizes");
      entry().shape.push_back(static_cast<std::int64_t>(value));
    } else if (place_ == Place::offsets) {
      if (offset_count_ == 2) refuse(here(), " has more than 2 numbers");
      (offset_count_++ == 0 ? entry().begin : entry().end) = value;
    } else {
      unexpected("a number");
    }
    return true;
  }

  bool string(string_t& value) override {
    if (place_ == Place::metadata) {
      header_.metadata[key_] = value;
    } else if (place_ == Place::tensor && key_ == "dtype") {
      const auto dtype = dtype_named(value);
      if (!dtype) refuse(here(), " is ", in_quotes(value), ", supported are ", supported_dtypes());
      entry().dtype = *dtype;
    } else {
      unexpected("a string");
    }
    return true;
  }

  bool start_object(std::size_t) override {
    if (place_ == Place::file) {
      place_ = Place::root;
    } else if (place_ == Place::root && key_ == metadata_key) {
      place_ = Place::metadata;
    } else if (place_ == Place::root) {
      header_.entries.push_back({key_, DType::f32, {}, 0, 0});
      fields_.clear();
      place_ = Place::tensor;
    } else {
      unexpected("an object");
    }
    return true;
  }

  bool end_object() override {
    if (place_ == Place::tensor)
      for (const char* field : {"dtype", "shape", "data_offsets"})
        if (fields_.count(field) == 0) refuse("tensor ", in_quotes(entry().name), " has no ", field);
    place_ = place_ == Place::root ? Place::file : Place::root;
    return true;
  }

  bool start_array(std::size_t) override {
    if (place_ == Place::tensor && key_ == "shape") {
      place_ = Place::shape;
    } else if (place_ == Place::tensor && key_ == "data_offsets") {
      place_ = Place::offsets;
      offset_count_ = 0;
    } else {
      unexpected("an array");
    }
    return true;
  }

  bool end_array() override {
    if (place_ == Place::offsets && offset_count_ != 2) refuse(here(), " has ", offset_count_, " numbers, 2 expected");
    place_ = Place::tensor;
    return true;
  }

  bool key(string_t& key) override {
    key_ = key;
    if (place_ == Place::tensor && key != "dtype" && key != "shape" && key != "data_offsets")
      refuse("tensor ", in_quotes(entry().name), " has the unknown field ", in_quotes(key));
    auto& seen = place_ == Place::tensor ? fields_ : place_ == Place::metadata ? metadata_keys_ : names_;
    if (!seen.insert(key).second) refuse("key ", in_quotes(key), " appears twice");
    return true;
  }

  bool parse_error(std::size_t position, const std::string&, const nlohmann::detail::exception& error) override {
    refuse("invalid JSON at byte ", position, " of the header: ", error.what());
  }

 private:
  enum class Place { file, root, metadata, tensor, shape, offsets };

  template <class... Parts>
  [[noreturn]] void refuse(const Parts&... parts) const {
    fail(ErrorCode::io, "safetensors", path_, ": ", parts...);
  }
  [[noreturn]] void unexpected(const char* found) const { refuse(here(), " holds ", found, ", ", wanted()); }

  std::string here() const {
    switch (place_) {
      case Place::file: return "the header";
      case Place::root: return in_quotes(key_);
      case Place::metadata: return "metadata " + in_quotes(key_);
      default: return key_ + " of tensor " + in_quotes(header_.entries.back().name);
    }
  }

  const char* wanted() const {
    switch (place_) {
      case Place::metadata: return "a string expected";
      case Place::tensor: return key_ == "dtype" ? "a string expected" : "an array of numbers expected";
      case Place::shape:
      case Place::offsets: return "a number expected";
      default: return "an object expected";
    }
  }

  SafetensorsEntry& entry() { return header_.entries.back(); }

  SafetensorsHeader& header_;
  const std::string& path_;
  Place place_ = Place::file;
  std::string key_;
  int offset_count_ = 0;
  std::unordered_set<std::string> names_, metadata_keys_, fields_;
};

// The number of bytes of the entry's elements. Returns nothing if the product of all sizes except for zeros is above
// 2^62, because no tensor may have such sizes.
std::optional<std::uint64_t> byte_count(const SafetensorsEntry& entry) {
  constexpr auto limit = std::uint64_t{1} << 62;
  std::uint64_t bytes = size_of(entry.dtype);
  bool is_empty = false;
  for (const std::int64_t size : entry.shape) {
    const auto factor = static_cast<std::uint64_t>(size);
    is_empty = is_empty || factor == 0;
    if (factor != 0 && bytes > limit / factor) return std::nullopt;
    bytes *= std::max<std::uint64_t>(factor, 1);
  }
  return is_empty ? 0 : bytes;
}

void check_ranges(const std::vector<SafetensorsEntry>& entries, std::uint64_t data_bytes, const std::string& path) {
  const auto refuse = [&](const auto&... parts) { fail(ErrorCode::io, "safetensors", path, ": ", parts...); };
  const auto range = [](const SafetensorsEntry& e) {
    return concat("tensor ", in_quotes(e.name), " at bytes ", e.begin, " to ", e.end);
  };
  std::vector<const SafetensorsEntry*> by_offset;
  for (const SafetensorsEntry& e : entries) {
    if (e.begin > e.end) refuse(range(e), " ends before it begins");
    if (e.end > data_bytes) refuse(range(e), " is out of range: the file has ", data_bytes, " bytes of data");
    const auto bytes = byte_count(e);
    if (!bytes) refuse("tensor ", in_quotes(e.name), " of shape ", e.shape, " has too many elements");
    if (*bytes != e.end - e.begin)
      refuse(range(e), " takes ", e.end - e.begin, " bytes, ", format_name(e.dtype), " of shape ", e.shape, " takes ",
             *bytes);
    by_offset.push_back(&e);
  }
  std::sort(by_offset.begin(), by_offset.end(), [](const SafetensorsEntry* a, const SafetensorsEntry* b) {
    return a->begin != b->begin ? a->begin < b->begin : a->end < b->end;
  });
  std::uint64_t reached = 0;
  for (const SafetensorsEntry* e : by_offset) {
    if (e->begin < reached) refuse(range(*e), " overlaps the tensor before it, which ends at ", reached);
    if (e->begin > reached) refuse(range(*e), " leaves a hole of ", e->begin - reached, " bytes before it");
    reached = e->end;
  }
  if (reached != data_bytes)
    refuse("trailing data: the tensors end at byte ", reached, " of ", data_bytes, " bytes of data");
}

}  // namespace

SafetensorsHeader parse_header(std::string_view text, std::uint64_t data_bytes, const std::string& path) {
  if (text.empty() || text.front() != '{')
    fail(ErrorCode::io, "safetensors", path, ": the header does not begin with '{'");
  // The JSON parser would take a zero byte for the end and ignore the rest.
  if (const std::size_t zero = text.find('\0'); zero != text.npos)
    fail(ErrorCode::io, "safetensors", path, ": invalid JSON at byte ", zero, " of the header: a zero byte");
  SafetensorsHeader header;
  HeaderReader reader(header, path);
  nlohmann::json::sax_parse(text.begin(), text.end(), &reader);
  check_ranges(header.entries, data_bytes, path);
  return header;
}

void assign_ranges(std::vector<SafetensorsEntry>& entries) {
  std::vector<SafetensorsEntry*> by_size;
  by_size.reserve(entries.size());
  for (SafetensorsEntry& entry : entries) by_size.push_back(&entry);
  std::stable_sort(by_size.begin(), by_size.end(), [](const SafetensorsEntry* a, const SafetensorsEntry* b) {
    return size_of(a->dtype) > size_of(b->dtype);
  });
  std::uint64_t reached = 0;
  for (SafetensorsEntry* entry : by_size) {
    const auto bytes = byte_count(*entry);
    require(bytes.has_value(), "save_safetensors", "tensor \"", entry->name, "\" of shape ", entry->shape,
            " has too many elements");
    entry->begin = reached;
    entry->end = reached += *bytes;
  }
}

std::string format_header(const std::vector<SafetensorsEntry>& entries, const Metadata& metadata) {
  nlohmann::ordered_json header = nlohmann::ordered_json::object();
  std::unordered_set<std::string> names{metadata_key};
  if (!metadata.empty()) header[metadata_key] = metadata;
  // ordered_json searches linearly for a key, so its underlying list is filled directly.
  auto& fields = header.get_ref<nlohmann::ordered_json::object_t&>();
  for (const SafetensorsEntry& entry : entries) {
    require(entry.name != metadata_key, "save_safetensors", "no tensor may be named ", metadata_key);
    require(names.insert(entry.name).second, "save_safetensors", "two tensors are named \"", entry.name, '"');
    nlohmann::ordered_json value;
    value["dtype"] = format_name(entry.dtype);
    value["shape"] = std::vector<std::int64_t>(entry.shape.begin(), entry.shape.end());
    value["data_offsets"] = {entry.begin, entry.end};
    fields.push_back({entry.name, std::move(value)});
  }
  std::string text;
  try {
    text = header.dump();
  } catch (const nlohmann::json::type_error& error) {
    fail(ErrorCode::invalid_argument, "save_safetensors", "a name or metadata is not UTF-8: ", error.what());
  }
  text.append((8 - text.size() % 8) % 8, ' ');
  require(text.size() <= largest_safetensors_header, "save_safetensors", "the header takes ", text.size(),
          " bytes, the format allows ", largest_safetensors_header);
  return text;
}

}  // namespace crisol::io
