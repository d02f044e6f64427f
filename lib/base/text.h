// Text made from parts, and two ways to report a bad argument.
#pragma once

#include <initializer_list>
#include <sstream>
#include <string>

#include "crisol/error.h"

namespace crisol {

/// A part of a text: a value, and a function that writes it with operator<<. So the compiler makes one function for
/// each type of part, and not one for each call.
class TextPart {
 public:
  TextPart(const char* text)
      : value_(text), write_([](std::ostream& out, const void* value) { out << static_cast<const char*>(value); }) {}
  /// The value must live as long as the part.
  template <class Value>
  TextPart(const Value& value)
      : value_(&value),
        write_([](std::ostream& out, const void* its_value) { out << *static_cast<const Value*>(its_value); }) {}

  void write(std::ostream& out) const { write_(out, value_); }

 private:
  const void* value_;
  void (*write_)(std::ostream&, const void*);
};

/// Concatenates the parts.
inline std::string join_parts(std::initializer_list<TextPart> parts) {
  std::ostringstream out;
  for (const TextPart& part : parts) part.write(out);
  return out.str();
}

/// "[op] parts…"
inline std::string text_of_failure(const char* op, std::initializer_list<TextPart> parts) {
  return '[' + std::string(op) + "] " + join_parts(parts);
}

/// Throws Error with the text "[op] parts…".
[[noreturn]] inline void fail_with(ErrorCode code, const char* op, std::initializer_list<TextPart> parts) {
  throw Error(code, text_of_failure(op, parts));
}

/// Concatenates the parts, each written with operator<<.
template <class... Parts>
std::string concat(const Parts&... parts) {
  return join_parts({TextPart(parts)...});
}

/// Throws Error with the text "[op] parts…".
template <class... Parts>
[[noreturn]] void fail(ErrorCode code, const char* op, const Parts&... parts) {
  fail_with(code, op, {TextPart(parts)...});
}

/// Throws invalid_argument with "[op] parts…" unless the rule holds. The parts are formatted only then.
template <class... Parts>
void require(bool rule_holds, const char* op, const Parts&... parts) {
  if (!rule_holds) fail_with(ErrorCode::invalid_argument, op, {TextPart(parts)...});
}

/// As require(), for a rule about a position or an axis: throws OutOfRange.
template <class... Parts>
void require_in_range(bool rule_holds, const char* op, const Parts&... parts) {
  if (!rule_holds) throw OutOfRange(text_of_failure(op, {TextPart(parts)...}));
}

}  // namespace crisol
