#include "support/forced.h"

#include "crisol/error.h"
#include "crisol/tuning.h"

namespace crisol::testing {

std::optional<std::string> refusal_of(const std::string& op, const std::string& variant,
                                      const std::function<void()>& body) {
  const ForcedVariant forced(op, variant);
  try {
    body();
  } catch (const Error& error) {
    const std::string refusal = '[' + op + "] variant " + variant + " is forced, but ";
    const std::string text = error.what();
    if (text.rfind(refusal, 0) != 0 || text.find("there is no such variant") != std::string::npos) throw;
    return text;
  }
  return std::nullopt;
}

bool run_variant(const std::string& op, const std::string& variant, const std::function<void()>& body) {
  return !refusal_of(op, variant, body).has_value();
}

}  // namespace crisol::testing
