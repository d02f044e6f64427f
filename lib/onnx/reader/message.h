// The wire format of ONNX's files (protocol buffers), with checks and with refusals that say where a fault lies.
#pragma once

#include <cstdint>
#include <protozero/pbf_reader.hpp>
#include <string>
#include <string_view>
#include <vector>

#include "base/text.h"

namespace crisol::onnx::file {

/// The state that all messages of one file share.
struct Document {
  std::string path;
  std::string_view bytes;
  std::uint64_t budget;  ///< Bytes that decoded structs may still take.
};

/// The memory for the decoded structs of a file. A field of 2 bytes can become a struct of 200, so a hostile file could
/// fill the memory otherwise. A graph of 100,000 nodes takes some 100 MB.
constexpr std::uint64_t budget_for(std::uint64_t file_bytes) {
  constexpr std::uint64_t least = std::uint64_t{64} << 20, most = std::uint64_t{1} << 30;
  return file_bytes > (most - least) / 16 ? most : least + 16 * file_bytes;
}

/// Names come from the file, so they are quoted, shortened, and freed of control characters, which could drive a
/// terminal.
std::string in_quotes(std::string_view name);
/// The same without quotes and at full length.
std::string printable(std::string_view text);

/// One message, read field by field:
///
///     while (in.next()) switch (in.field()) {
///         case 1: node.name = in.text(); break;
///         …
///     }
///
/// A field that is not asked for is skipped by the next call of next(). All faults throw Error (ErrorCode::io):
/// "[onnx] net.onnx: graph, node 3 "conv1", at byte 1234: reason".
class Message {
 public:
  /// Messages within messages, at most: a graph within a graph takes three.
  static constexpr int max_depth = 100;

  /// The message in these bytes of the file.
  Message(Document& document, std::string_view bytes);
  /// The sub-message in the current field of `outer`, which must outlive it. `index` counts the messages of this kind.
  Message(Message& outer, const char* what, std::size_t index = no_index);
  Message(const Message&) = delete;
  Message& operator=(const Message&) = delete;

  bool next();
  std::uint32_t field() const noexcept { return field_; }

  std::int64_t integer();
  float real();
  /// Bytes or text, which is not checked to be UTF-8.
  std::string_view text();
  /// Appends the integers of a repeated field, packed or not.
  void integers(std::vector<std::int64_t>& list);
  void reals(std::vector<float>& list);
  /// Checks the integers of a repeated field, packed or not, without keeping them. Returns how many there are.
  std::uint64_t skip_integers();
  /// The numbers of 4 or 8 bytes of a repeated field, packed or not.
  std::string_view fixed(std::size_t size);

  /// Refuses the current field if it appeared before. Other readers would merge such messages; no writer makes them.
  void only_once(const char* what);
  /// Takes `bytes` from the budget of the file.
  void charge(std::uint64_t bytes);
  /// Appends to a list of decoded structs, within the budget.
  template <class T>
  T& add(std::vector<T>& list, T value = T()) {
    charge(sizeof(T));
    return list.emplace_back(std::move(value));
  }

  /// The name by which refusals call this message.
  void set_name(std::string_view name) noexcept { name_ = name; }
  /// All bytes of the message.
  std::string_view bytes() const noexcept { return bytes_; }
  Document& document() const noexcept { return document_; }

  template <class... Parts>
  [[noreturn]] void refuse(const Parts&... parts) const {
    fail(ErrorCode::io, "onnx", place(), ": ", concat(parts...));
  }

 private:
  static constexpr std::size_t no_index = static_cast<std::size_t>(-1);

  std::string place() const;
  bool is_packed() const;
  void want(protozero::pbf_wire_type type, const char* what) const;
  /// read(), whose faults refuse the current field: "field 3 holds no integer (…)".
  template <class Read>
  auto checked(const char* fault, const Read& read) const;

  Document& document_;
  const Message* outer_ = nullptr;
  const char* what_ = "";
  std::size_t index_ = no_index;
  std::string_view name_, bytes_;
  int depth_ = 0;
  protozero::pbf_reader reader_;
  std::uint32_t field_ = 0;
  bool is_read_ = true;  ///< The current field's value.
  std::uint64_t seen_ = 0;
};

}  // namespace crisol::onnx::file
