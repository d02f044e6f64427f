#include "dispatch/requests.h"

#include <span>
#include <vector>

#include "base/text.h"
#include "base/thread_context.h"
#include "crisol/tuning.h"
#include "runtime/verbose.h"

namespace crisol::dispatch {

namespace {

struct Request {
  std::string op, variant;
  bool forbidden;
};

std::vector<Request> parse_requests(const std::string& text) {
  std::vector<Request> requests;
  std::istringstream parts(text);
  for (std::string part; std::getline(parts, part, ',');) {
    if (part.empty()) continue;
    const std::size_t colon = part.find(':');
    require(colon != std::string::npos && colon > 0 && colon + 1 < part.size(), "CRISOL_VARIANT", '\'', part,
            "' is not of the form op:variant or op:-variant");
    const bool forbidden = part[colon + 1] == '-';
    requests.push_back({part.substr(0, colon), part.substr(colon + (forbidden ? 2 : 1)), forbidden});
  }
  return requests;
}

const std::vector<Request>& environment_requests() {
  static const std::vector<Request> requests = parse_requests(runtime::environment("CRISOL_VARIANT"));
  return requests;
}

// The requests of this thread's ForcedVariant objects. The last request is the innermost, and it wins.
std::span<const ForcedRequest> thread_requests() noexcept {
  const std::vector<ForcedRequest>* const forced = thread_context().forced;
  return forced == nullptr ? std::span<const ForcedRequest>() : *forced;
}

}  // namespace

std::string forced_variant(std::string_view op) {
  const std::span<const ForcedRequest> inner = thread_requests();
  for (auto at = inner.rbegin(); at != inner.rend(); ++at)
    if (at->op == op) return at->variant;
  for (const Request& request : environment_requests())
    if (request.op == op && !request.forbidden) return request.variant;
  return {};
}

std::string forced_variants() {
  std::string all;
  for (const ForcedRequest& request : thread_requests()) all += concat(request.op, ':', request.variant, ',');
  return all;
}

bool is_forbidden(std::string_view op, std::string_view variant) {
  for (const Request& request : environment_requests())
    if (request.op == op && request.variant == variant && request.forbidden) return true;
  return false;
}

}  // namespace crisol::dispatch

namespace crisol {

ForcedVariant::ForcedVariant(std::string op, std::string variant) {
  std::vector<ForcedRequest>*& forced = thread_context().forced;
  if (forced == nullptr) forced = new std::vector<ForcedRequest>;
  forced->push_back({std::move(op), std::move(variant)});
}

ForcedVariant::~ForcedVariant() {
  std::vector<ForcedRequest>*& forced = thread_context().forced;
  forced->pop_back();
  if (!forced->empty()) return;
  delete forced;
  forced = nullptr;
}

}  // namespace crisol
