// The values of a running program of ops, and the check after every step.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "base/text.h"
#include "byte_reader.h"
#include "crisol/error.h"
#include "model.h"
#include "reference/cat.h"

namespace crisol::fuzz {

/// A tensor and its expected content.
struct Value {
  Tensor tensor;
  Model model;
};

class Program {
 public:
  Program(const std::uint8_t* bytes, std::size_t count);

  ByteReader in;

  /// Picks one of the values.
  const Value& pick() { return values_[static_cast<std::size_t>(in.below(static_cast<int>(values_.size())))]; }
  /// An axis of x, or sometimes an axis that x does not have.
  int axis(const Value& x) { return in.small_number(-x.model.shape.rank() - 1, x.model.shape.rank()); }

  /// Runs one op. Without `expected` the op must be refused; otherwise its result must match, and is kept as a value.
  template <class Call>
  void check(const std::string& step, const std::optional<Model>& expected, Call&& call) {
    steps_ += step + '\n';
    Tensor result;
    try {
      result = call();
    } catch (const Error& error) {
      if (error.code() != ErrorCode::invalid_argument || error.what()[0] != '[') fail(error.what());
      if (expected) fail(concat("refused: ", error.what()));
      return;
    }
    if (!expected) fail("accepted");
    if (const std::string wrong = difference(result, *expected); !wrong.empty()) fail(wrong);
    keep({result, *expected});
  }
  /// Checks all values. Called after a write through one of them, or after a refused write.
  void check_all();

  /// Throws with all steps and this finding.
  [[noreturn]] void fail(const std::string& finding) const;
  void say(const std::string& step) { steps_ += step + '\n'; }

 private:
  void keep(Value value);

  std::vector<Value> values_;
  std::size_t next_ = 0;
  std::string steps_;
};

/// Describes an operand in a step.
inline std::string text_of(const Value& x) {
  return concat(x.tensor.dtype(), ' ', x.tensor.shape(), " strides ", x.tensor.strides(), " offset ",
                x.tensor.offset());
}

inline reference::Values values_of(const Value& x) { return {x.model.shape, x.model.values()}; }

using Step = void (*)(Program&);
/// Steps with views, and steps with ops that compute.
const std::vector<Step>& view_steps();
const std::vector<Step>& compute_steps();
const std::vector<Step>& window_steps();

}  // namespace crisol::fuzz
