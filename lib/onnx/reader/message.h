// A reader for the wire format of ONNX's files (protocol buffers). It checks the data, and its errors say where a fault
// is.
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
  std::uint64_t budget;  ///< How many more bytes decoded structs may use.
};

/// The memory that the decoded structs of a file may use. Without a limit, a malicious file could fill the memory,
/// because a field of 2 bytes can become a struct of 200. A graph of 100,000 nodes takes about 100 MB.
constexpr std::uint64_t budget_for(std::uint64_t file_bytes) {
  constexpr std::uint64_t least = std::uint64_t{64} << 20, most = std::uint64_t{1} << 30;
  return file_bytes > (most - least) / 16 ? most : least + 16 * file_bytes;
}

/// A name in quotes for messages. Names come from the file, so they are shortened, and control characters are removed,
/// which could change the terminal.
std::string in_quotes(std::string_view name);
/// The same without quotes and at full length.
std::string printable(std::string_view text);

/// A reader for one message, field by field:
///
///     while (in.next()) switch (in.field()) {
///         case 1: node.name = in.text(); break;
///         …
///     }
///
/// next() skips a field that was not read. All faults throw Error (ErrorCode::io): "[onnx] net.onnx: graph, node 3
/// "conv1", at byte 1234: reason".
class Message {
 public:
  /// The deepest nesting of messages. A graph in a node of a graph takes three levels.
  static constexpr int max_depth = 100;

  /// The message in these bytes of the file.
  Message(Document& document, std::string_view bytes);
  /// The sub-message in the current field of `outer`, which must outlive it. `index` is its number among messages of
  /// this kind.
  Message(Message& outer, const char* what, std::size_t index = no_index);
  Message(const Message&) = delete;
  Message& operator=(const Message&) = delete;

  bool next();
  std::uint32_t field() const noexcept { return field_; }

  std::int64_t integer();
  float real();
  /// The field as bytes or text. It is not checked that text is UTF-8.
  std::string_view text();
  /// Appends the integers of a repeated field, which may be packed or not.
  void integers(std::vector<std::int64_t>& list);
  void reals(std::vector<float>& list);
  /// Checks the integers of a repeated field, which may be packed or not, and returns how many there are.
  std::uint64_t skip_integers();
  /// The numbers of a repeated field, which have 4 or 8 bytes each, and may be packed or not.
  std::string_view fixed(std::size_t size);

  /// Throws if the current field appeared before. Other readers would merge the two messages, but no program writes
  /// them.
  void only_once(const char* what);
  /// Subtracts `bytes` from the budget of the file.
  void charge(std::uint64_t bytes);
  /// Appends to a list of decoded structs, and subtracts from the budget.
  template <class T>
  T& add(std::vector<T>& list, T value = T()) {
    charge(sizeof(T));
    return list.emplace_back(std::move(value));
  }

  /// Sets the name that messages of errors use for this message.
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
  /// Calls read(). If it fails, the error is about the current field: "field 3 holds no integer (…)".
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
  bool is_read_ = true;  ///< Whether the value of the current field was read.
  std::uint64_t seen_ = 0;
};

}  // namespace crisol::onnx::file
