#include "onnx/reader/message.h"

#include <cstring>
#include <protozero/varint.hpp>

namespace crisol::onnx::file {

namespace {

using protozero::pbf_wire_type;

bool is_control(char c) { return static_cast<unsigned char>(c) < 0x20 || c == 0x7f; }

}  // namespace

std::string printable(std::string_view text) {
  std::string shown(text);
  for (std::size_t i = 0; i < shown.size(); ++i) {
    // In UTF-8, U+0080 to U+009F are control characters of two bytes.
    const bool is_wide_control = shown[i] == '\xc2' && i + 1 < shown.size() && (shown[i + 1] & 0xe0) == 0x80;
    if (is_wide_control) shown[i + 1] = '?';
    if (is_wide_control || is_control(shown[i])) shown[i] = '?';
  }
  return shown;
}

std::string in_quotes(std::string_view name) {
  constexpr std::size_t longest = 80;
  return '"' + printable(name.substr(0, longest)) + (name.size() > longest ? "…\"" : "\"");
}

Message::Message(Document& document, std::string_view bytes)
    : document_(document), bytes_(bytes), reader_(bytes.data(), bytes.size()) {}

Message::Message(Message& outer, const char* what, std::size_t index)
    : document_(outer.document_), outer_(&outer), what_(what), index_(index), depth_(outer.depth_ + 1) {
  bytes_ = outer.text();
  reader_ = protozero::pbf_reader(bytes_.data(), bytes_.size());
  if (depth_ > max_depth) refuse("messages lie within each other more than ", max_depth, " deep");
}

std::string Message::place() const {
  std::string text = document_.path;
  std::vector<const Message*> path;
  for (const Message* m = this; m->outer_ != nullptr; m = m->outer_) path.push_back(m);
  constexpr std::size_t shown = 8;
  for (std::size_t i = path.size(); i-- > 0;) {
    const Message& m = *path[i];
    if (i >= shown && i + 2 < path.size()) continue;  // Only the first two and the last eight parts are shown.
    text += concat(i + 1 == path.size() ? ": " : ", ", m.what_);
    if (m.index_ != no_index) text += concat(' ', m.index_);
    if (!m.name_.empty()) text += ' ' + in_quotes(m.name_);
  }
  const std::size_t left = reader_.data().size();
  return text + concat(outer_ == nullptr ? ": at byte " : ", at byte ",
                       bytes_.data() + (bytes_.size() - left) - document_.bytes.data());
}

bool Message::next() {
  try {
    if (!is_read_) reader_.skip();
    is_read_ = true;
    if (!reader_.next()) return false;
    field_ = reader_.tag();
    is_read_ = false;
    return true;
  } catch (const protozero::exception& error) {
    refuse("no valid field follows (", error.what(), ')');
  }
}

void Message::want(pbf_wire_type type, const char* what) const {
  if (reader_.wire_type() != type)
    refuse("field ", field_, " has the wire type ", static_cast<int>(reader_.wire_type()), ", ", what, " expected");
}

bool Message::is_packed() const { return reader_.wire_type() == pbf_wire_type::length_delimited; }

template <class Read>
auto Message::checked(const char* fault, const Read& read) const {
  try {
    return read();
  } catch (const protozero::exception& error) {
    refuse("field ", field_, ' ', fault, " (", error.what(), ')');
  }
}

std::int64_t Message::integer() {
  want(pbf_wire_type::varint, "an integer");
  is_read_ = true;
  return checked("holds no integer", [&] { return reader_.get_int64(); });
}

float Message::real() {
  want(pbf_wire_type::fixed32, "a number of 32 bits");
  is_read_ = true;
  return checked("holds no number of 32 bits", [&] { return reader_.get_float(); });
}

std::string_view Message::text() {
  want(pbf_wire_type::length_delimited, "text, bytes or a message");
  return checked("has no valid length", [&]() -> std::string_view {
    // The length is checked here, because protozero keeps only its low 32 bits.
    const protozero::data_view rest = reader_.data();
    const char* at = rest.data();
    const std::uint64_t length = protozero::decode_varint(&at, rest.data() + rest.size());
    const auto left = static_cast<std::uint64_t>(rest.data() + rest.size() - at);
    if (length > left) refuse("truncated: field ", field_, " has ", length, " bytes, ", left, " left");
    is_read_ = true;
    const protozero::data_view view = reader_.get_view();
    return {view.data(), view.size()};
  });
}

void Message::integers(std::vector<std::int64_t>& list) {
  if (!is_packed()) {
    add(list, integer());
    return;
  }
  const std::string_view packed = text();
  const char *at = packed.data(), *const end = at + packed.size();
  checked("holds no list of integers", [&] {
    while (at != end) add(list, static_cast<std::int64_t>(protozero::decode_varint(&at, end)));
  });
}

void Message::reals(std::vector<float>& list) {
  for (std::string_view values = fixed(sizeof(float)); !values.empty(); values.remove_prefix(sizeof(float))) {
    float value = 0;
    std::memcpy(&value, values.data(), sizeof value);
    add(list, value);
  }
}

std::uint64_t Message::skip_integers() {
  if (!is_packed()) {
    integer();
    return 1;
  }
  const std::string_view packed = text();
  std::uint64_t count = 0;
  int length = 0;
  for (const char byte : packed) {
    if (++length > protozero::max_varint_length) refuse("field ", field_, " holds no list of integers");
    if ((byte & '\x80') != 0) continue;
    ++count;
    length = 0;
  }
  if (length != 0) refuse("field ", field_, " ends within an integer");
  return count;
}

std::string_view Message::fixed(std::size_t size) {
  if (!is_packed()) {
    want(size == 4 ? pbf_wire_type::fixed32 : pbf_wire_type::fixed64, size == 4 ? "4 bytes" : "8 bytes");
    const protozero::data_view rest = reader_.data();
    if (rest.size() < size) refuse("truncated: field ", field_, " has ", size, " bytes, ", rest.size(), " left");
    return {rest.data(), size};  // The field is not read, so next() skips it.
  }
  const std::string_view packed = text();
  if (packed.size() % size != 0)
    refuse("field ", field_, " has ", packed.size(), " bytes, a multiple of ", size, " expected");
  return packed;
}

void Message::only_once(const char* what) {
  const std::uint64_t bit = std::uint64_t{1} << (field_ % 64);
  if ((seen_ & bit) != 0) refuse("a second ", what);
  seen_ |= bit;
}

void Message::charge(std::uint64_t bytes) {
  if (bytes > document_.budget)
    refuse("the model has too many parts: they take more than ", budget_for(document_.bytes.size()) >> 20,
           " MiB of memory");
  document_.budget -= bytes;
}

}  // namespace crisol::onnx::file
