// docs/elementwise.md is generated from the table. This test checks that both agree.
#include <cstdlib>
#include <fstream>
#include <iterator>
#include <sstream>
#include <string>

#include "doctest/doctest.h"
#include "ops/pointwise/whole_rows.h"
#include "support/pointwise/pointwise_calls.h"

using namespace crisol;
using namespace crisol::testing;

namespace {

constexpr const char* page_path = CRISOL_SOURCE_DIR "/docs/elementwise.md";

constexpr const char* introduction = R"(# Elementwise functions

<!-- Made from include/crisol/ops/pointwise.def by tests/ops/pointwise/pointwise_docs_test.cpp. After a change of the table:
     CRISOL_UPDATE_DOCS=1 build/bin/crisol_tests --test-case='*docs/elementwise.md*' -->

Every function below exists as `crisol::name` (differentiable), as `crisol::ops::name` (raw, not recorded; in `crisol/ops.h`), and inside
functions given to `fuse()`. All but `where` are also members: `x.mul(y).relu()`. Most also exist in place as `x.name_(…)`.
Functions that give bool, and `where`, do not. The operators `+ - * / % < <= > >=` and `+= -= *= /=` stand for add, sub, mul, div, remainder,
lt, le, gt, ge and the in-place forms.

- **Operands** are tensors of any strides, or numbers on any side: `2 - x`, `where(mask, x, 0)`. Numbers are arguments of
  the kernel, so a new number compiles nothing.
- **Shapes** broadcast as in NumPy: they are aligned at the last axis, and an axis of size 1 is repeated. The exception is
  prelu: as in PyTorch, a weight of rank 1 belongs to axis 1 of x.
- **In place**, the operands broadcast to the tensor's shape. A result of a higher kind than the tensor's dtype (floating >
  integer > bool) is refused. An operand that shares only a part of the tensor's elements is refused too. While ops are
  recorded, tensors and operands that need a gradient are refused.
- **Errors** name the function, and both shapes and the axis, or the dtypes. They are thrown before anything is written.

| dtypes | |
|---|---|
| any | f64, f32, f16, bf16, i8, i16, i32, i64, u8, u16, u32, u64 and bool, promoted; the result has the promoted dtype. For bools, add is "or", mul is "and" |
| numbers | the same without bool |
| numbers, as x | the same, but only tensors are promoted; the limits are converted to that dtype, toward zero |
| numbers, bool as i64 | the same, and bool becomes i64 first |
| to float | integers and bool become the default dtype (f32) first |
| gives bool | any dtypes, compared in the promoted dtype |
| condition | any dtype; what is not 0 (NaN is not) is true |

f16 and bf16 are computed in float and rounded when they are stored. Integers are kept modulo their size (u8: 256). For integers,
floor_divide, remainder and fmod give 0 where a tensor has the divisor 0. They refuse the number 0. pow of integers gives 0
where a tensor has a negative exponent, unless the base is 1 or -1. It refuses a negative number.
A comparison of integers with a whole number is exact, also where their dtype does not hold the number: `x < 2**31` of i32 is
true. Other functions refuse a number that does not fit 32 bits, or the 64 of i64 and u64.
The power 0.5 is the square root, as in PyTorch, unless the exponent is a tensor: the root of -0 is -0.

**Error** is the largest distance from the exact value over all inputs, in units of the last place of an f32 result. It is
the bound of OpenCL's full profile, or the bound of the function's own form. 2^-142 is always allowed, and subnormal
numbers may count as 0 if the device has none. `CRISOL_PRINT_ACCURACY=1 crisol_tests --test-case='pointwise accuracy*'`
prints the accuracy that the device reaches. "absolute" means that terms may cancel: the error is then measured in last
places of the largest term.

**Derivatives at borders, ties, infinities and NaN** are PyTorch's, also the second ones (`tests/python/at_limits/test_limits.py`).
At a border of clamp, clip, hard_tanh and relu6 the derivative is 0. Where PyTorch gives NaN for the derivative of a
number, there may be a number here: hypot at (0, 0), logaddexp of equal infinities, copysign of an infinity. These differ
too: remainder passes -floor_divide(a, b) on to an infinite b, and the second derivatives of softplus at its threshold,
of prelu at 0 and of lgamma at whole numbers below 0 are limits from one side. A branch that an element does not take
adds nothing to its second derivative.
)";

constexpr const char* whole_numbers = R"(
## Functions of whole numbers

These take whole numbers, and give the promoted dtype. They exist as `crisol::name` (`crisol/functions/bitwise.h`) and
for C by name. They have no gradient, and `fuse()` does not take them. A shift by a wrong b is one by a negative number,
or by at least the number of bits. `bitwise_and`, `bitwise_or`, `bitwise_xor` and `bitwise_not` take bool too, and are
then logical. C++ has Python's operators: `(x > 0) & ~used`, `mask |= other`, `codes << 4`. `!x` is `logical_not(x)`.

| function | value |
|---|---|
)";

constexpr const char* promotion = R"(
## Promotion

The rules are PyTorch's. Two tensors give the dtype in the table below (`promote_types`). Kinds are ordered bool, integer,
floating. A tensor of rank 0 counts only if it is of a higher kind than the other tensors. A number counts only if it is of
a higher kind than all tensors. The C++ type of a number makes it bool, i64 or f32: an i32 tensor times 2 stays i32, and
times 2.0 it becomes f32 (`result_type`). For integers, div and all functions "to float" give the default dtype, f32.

)";

std::string dtypes_of(const ops::PointwiseRow& row) {
  switch (row.rule) {
    case ops::RowRule::any: return "any";
    case ops::RowRule::number: return "numbers";
    case ops::RowRule::limits: return "numbers, as x";
    case ops::RowRule::counted: return "numbers, bool as i64";
    case ops::RowRule::floating:
    case ops::RowRule::channel: return "to float";
    case ops::RowRule::comparison:
    case ops::RowRule::test:
    case ops::RowRule::logical: return "gives bool";
    case ops::RowRule::choice: return "condition, any";
    case ops::RowRule::fill: return "any, condition, the first's kind at most";
    case ops::RowRule::whole: break;  // Not in the table.
  }
  return "";
}

std::string error_of(const RowUnderTest& row) {
  if (row.row->is_predicate()) return "exact";
  if (row.reference->ulp == 0) return "absolute";
  std::ostringstream text;
  text << row.reference->ulp;
  return text.str();
}

// In Markdown tables a bar would end the cell.
std::string escaped(const std::string& text) {
  std::string result;
  for (const char c : text) result += c == '|' ? std::string("\\|") : std::string(1, c);
  return result;
}

std::string page() {
  std::ostringstream text;
  text << introduction << "\n## Functions\n\n| function | value | dtypes | error |\n|---|---|---|---|\n";
  for (std::size_t r = 0; r < table_rows().size(); ++r) {
    const RowUnderTest& row = table_rows()[r];
    text << "| `" << pointwise_calls()[r].signature << "` | " << escaped(row.row->formula) << " | "
         << dtypes_of(*row.row) << " | " << error_of(row) << " |\n";
  }
  text << whole_numbers;
  for (const ops::PointwiseRow* row : ops::whole_rows()) {
    text << "| `" << row->name << '(' << row->inputs[0];
    if (row->input_count == 2) text << ", " << row->inputs[1];
    text << ")` | " << escaped(row->formula) << " |\n";
  }
  text << promotion << '|';
  constexpr DType all[] = {DType::boolean, DType::u8,  DType::i8,  DType::u16,  DType::i16, DType::u32, DType::i32,
                           DType::i64,     DType::u64, DType::f16, DType::bf16, DType::f32, DType::f64};
  for (const DType b : all) text << " | " << b;
  text << " |\n|---|---|---|---|---|---|---|---|---|---|---|---|---|---|\n";
  for (const DType a : all) {
    text << "| **" << a << "**";
    for (const DType b : all) text << " | " << promote_types(a, b);
    text << " |\n";
  }
  return text.str();
}

}  // namespace

TEST_CASE("pointwise: docs/elementwise.md is what the table gives") {
  if (std::getenv("CRISOL_UPDATE_DOCS") != nullptr) std::ofstream(page_path) << page();
  std::ifstream file(page_path);
  const std::string committed{std::istreambuf_iterator<char>(file), {}};
  // Compares line by line, so that a failure message is short.
  std::istringstream is(committed), wanted(page());
  std::string is_line, wanted_line;
  while (std::getline(wanted, wanted_line)) {
    REQUIRE_MESSAGE(std::getline(is, is_line), "docs/elementwise.md ends before: " << wanted_line);
    REQUIRE(is_line == wanted_line);
  }
  CHECK_FALSE(std::getline(is, is_line));
}
