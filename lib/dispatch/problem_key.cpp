#include "dispatch/problem_key.h"

#include <cassert>

#include "base/hash.h"

namespace crisol::dispatch {

ProblemKey::ProblemKey(std::initializer_list<KeyField> fields) {
  assert(fields.size() <= max_fields);
  for (const KeyField& field : fields) fields_[count_++] = field;
}

ProblemKey ProblemKey::with_types(std::int64_t types) const {
  ProblemKey key = *this;
  assert(count_ < max_fields);
  if (types != 0) key.fields_[key.count_++] = {"types", types};
  return key;
}

std::uint64_t ProblemKey::hash(std::string_view op) const noexcept {
  Hash hash;
  hash.add(op);
  for (std::size_t i = 0; i < count_; ++i) {
    hash.add(std::string_view(fields_[i].name));
    hash.add(static_cast<std::uint64_t>(fields_[i].value));
  }
  return hash.value();
}

bool ProblemKey::selects_programs(const KeyField& field) const noexcept {
  const std::string_view name = field.name;
  return name == "kind" || name == "cell" || name == "types" || (name == "precision" && field.value != 0);
}

std::uint64_t ProblemKey::program() const noexcept {
  Hash hash;
  for (std::size_t i = 0; i < count_; ++i)
    if (selects_programs(fields_[i])) hash.add(static_cast<std::uint64_t>(fields_[i].value));
  return hash.value();
}

std::string ProblemKey::program_text() const {
  std::string text;
  for (std::size_t i = 0; i < count_; ++i)
    if (selects_programs(fields_[i]))
      text.append(1, ' ').append(fields_[i].name).append(1, '=').append(std::to_string(fields_[i].value));
  return text;
}

std::string ProblemKey::text(std::string_view op) const {
  std::string text(op);
  for (std::size_t i = 0; i < count_; ++i)
    text.append(1, ' ').append(fields_[i].name).append(1, '=').append(std::to_string(fields_[i].value));
  return text;
}

}  // namespace crisol::dispatch
