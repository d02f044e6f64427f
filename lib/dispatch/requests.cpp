#include "dispatch/requests.h"

#include <algorithm>
#include <set>
#include <span>
#include <vector>

#include "base/edit_distance.h"
#include "base/text.h"
#include "base/thread_context.h"
#include "crisol/tuning.h"
#include "dispatch/choose.h"
#include "runtime/verbose.h"

namespace crisol::dispatch {

namespace {

struct Request {
  std::string op, variant;
  bool forbidden;
};

/// The names, sorted by how close they are to the wanted one.
std::string names_near(std::string_view wanted, const std::set<std::string_view>& names) {
  std::vector<std::string_view> order(names.begin(), names.end());
  std::stable_sort(order.begin(), order.end(), [&](std::string_view a, std::string_view b) {
    return edit_distance(wanted, a) < edit_distance(wanted, b);
  });
  std::string text;
  for (const std::string_view name : order) text.append(text.empty() ? "" : ", ").append(name);
  return text;
}

/// Throws unless the op has the variant. A configuration such as "block/64x64" is checked later, when a variant is
/// chosen.
void check_request(const Request& request) {
  std::set<std::string_view> ops, variants;
  for (const AnyTable* const table : all_tables()) {
    ops.insert(table->op);
    if (table->op == request.op)
      for (const AnyTable::Row& row : table->rows()) variants.insert(row.name);
  }
  if (ops.count(request.op) == 0)
    fail(ErrorCode::invalid_argument, "CRISOL_VARIANT", "there is no op '", request.op,
         "' with variants; there are: ", names_near(request.op, ops));
  const std::string_view variant = std::string_view(request.variant).substr(0, request.variant.find('/'));
  if (variants.count(variant) == 0)
    fail(ErrorCode::invalid_argument, "CRISOL_VARIANT", "there is no such variant of ", request.op, ": '", variant,
         "'; there are: ", names_near(variant, variants));
}

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
    check_request(requests.back());
  }
  return requests;
}

const std::vector<Request>& environment_requests() {
  static const std::vector<Request> requests = parse_requests(runtime::environment("CRISOL_VARIANT"));
  return requests;
}

// The requests of this thread's ForcedVariant objects. The last request is the innermost, and it wins.
std::span<const ForcedRequest> thread_requests() noexcept {
  const std::vector<ForcedRequest>* const forced = thread_context().dispatch.forced;
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
  std::vector<ForcedRequest>*& forced = thread_context().dispatch.forced;
  if (forced == nullptr) forced = new std::vector<ForcedRequest>;
  forced->push_back({std::move(op), std::move(variant)});
}

ForcedVariant::~ForcedVariant() {
  std::vector<ForcedRequest>*& forced = thread_context().dispatch.forced;
  forced->pop_back();
  if (!forced->empty()) return;
  delete forced;
  forced = nullptr;
}

}  // namespace crisol
