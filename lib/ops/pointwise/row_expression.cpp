#include "ops/pointwise/row_expression.h"

#include <charconv>

#include "base/text.h"

namespace crisol::ops {

namespace {

using PartKind = ExpressionPart::Kind;

// Levels of operators. CRISOL_OPERATORS has the others.
constexpr int any = 0, either = 1, equal = 3, sign = 7;

// The shortest text that gives the number again.
std::string number_text(const ExpressionPart& part) {
  char text[32];
  char* const end = std::to_chars(text, text + sizeof text, part.number).ptr;
  const std::string digits(text, end);
  if (part.kind == PartKind::whole) return digits;
  return digits + (digits.find_first_of(".e") == std::string::npos ? ".0f" : "f");
}

// Writes the part at `at` and its operands, in brackets if its operator binds less than `least`. Moves `at` behind
// them.
std::string text_at(const ExpressionPart*& at, int least) {
  const ExpressionPart& part = *at++;
  std::string text;
  if (part.kind == PartKind::name) return part.name;
  if (part.kind == PartKind::real || part.kind == PartKind::whole) return number_text(part);
  if (part.kind == PartKind::call) {
    for (int i = 0; i < part.operands; ++i) text += (i == 0 ? "(" : ", ") + text_at(at, any);
    return part.name + text + ')';
  }
  if (part.kind == PartKind::choice) {
    text = text_at(at, equal);
    for (const char* before : {" ? ", " : "})
      text += before + (at->kind == PartKind::real ? concat("(T)(", text_at(at, any), ')') : text_at(at, either));
  } else if (part.operands == 1) {
    text = part.name + text_at(at, sign);
  } else {
    // Compilers warn of other operators beside & and | without brackets.
    const bool is_logical = part.level < equal;
    text = text_at(at, is_logical && at->level != part.level ? sign : part.level);
    text += concat(' ', part.name, ' ');
    text += text_at(at, is_logical ? sign : part.level + 1);
  }
  return part.level < least ? '(' + text + ')' : text;
}

}  // namespace

std::string text_of(ExpressionParts parts) { return text_at(parts.first, any); }

}  // namespace crisol::ops
