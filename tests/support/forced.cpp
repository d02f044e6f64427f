#include "support/forced.h"

#include "crisol/error.h"
#include "crisol/tuning.h"

namespace crisol::testing {

bool run_variant(const std::string& op, const std::string& variant, const std::function<void()>& body) {
  const ForcedVariant forced(op, variant);
  try {
    body();
  } catch (const Error& error) {
    const std::string refusal = '[' + op + "] variant " + variant + " is forced, but ";
    const std::string text = error.what();
    if (text.rfind(refusal, 0) != 0 || text.find("there is no such variant") != std::string::npos) throw;
    return false;
  }
  return true;
}

}  // namespace crisol::testing
