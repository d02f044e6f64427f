// The key of a problem identifies it among the problems of an op when variants are measured. It has sizes and layout,
// but no addresses and no values. Each Problem type that variants take defines its key next to its members:
//
//     ProblemKey key() const { return {{"rows", rows}, {"length", length}}; }
//
// CRISOL_PROBLEM_LOG writes the text, such as "softmax rows=64 length=10", and `crisol tune` reads it.
#pragma once

#include <array>
#include <cstdint>
#include <initializer_list>
#include <string>
#include <string_view>

namespace crisol::dispatch {

struct KeyField {
  const char* name;
  std::int64_t value;
};

class ProblemKey {
 public:
  static constexpr std::size_t max_fields = 19;

  ProblemKey(std::initializer_list<KeyField> fields);
  /// The same key with the field "types", the types of operands in one number. Operands of f32 alone, whose number is
  /// 0, get no field.
  ProblemKey with_types(std::int64_t types) const;

  /// A hash and a text of the op, the names and the values, in order.
  std::uint64_t hash(std::string_view op) const noexcept;
  std::string text(std::string_view op) const;
  /// The fields that decide which programs a problem uses, without sizes and layout: as a hash, and as a text such as "
  /// kind=2".
  std::uint64_t program() const noexcept;
  std::string program_text() const;

 private:
  bool selects_programs(const KeyField& field) const noexcept;

  std::array<KeyField, max_fields> fields_;
  std::size_t count_ = 0;
};

/// True if CRISOL_PROBLEM_LOG names a file.
bool problems_are_logged();
/// Counts the problem in this file. If the file cannot be written, throws io with the variable and the path.
void log_problem(const char* op, const ProblemKey& key);

}  // namespace crisol::dispatch
