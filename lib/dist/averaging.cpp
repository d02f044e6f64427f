#include "dist/averaging.h"

#include <algorithm>
#include <cmath>
#include <numeric>

#include "crisol/dtype_table.h"

namespace crisol::dist {

namespace {

/// The message of a rank to the others when its pass begins.
struct PassHeader {
  std::int64_t pass;
  double weight;
};

std::vector<double> normalised_weights(const char* op, const std::vector<double>& weights) {
  const double sum = std::accumulate(weights.begin(), weights.end(), 0.0);
  require(sum > 0, op, "no rank has samples: all weights are 0");
  if (std::count(weights.begin(), weights.end(), weights[0]) == static_cast<std::ptrdiff_t>(weights.size())) return {};
  std::vector<double> normalised;
  normalised.reserve(weights.size());
  for (const double weight : weights) normalised.push_back(weight / sum);
  return normalised;
}

}  // namespace

void require_leaf(const char* op, const std::string& name, const Tensor& parameter, const Tensor& first) {
  require(parameter.defined() && parameter.is_leaf() && is_floating(parameter.dtype()), op, "the parameter ", name,
          " is no leaf of ", TypesThat{is_floating});
  require(parameter.device() == first.device(), op, "the parameter ", name, " is on ", parameter.device(),
          ", the first one on ", first.device());
}

void set_weight(const char* op, Session& session, double& own, double weight) {
  require(weight >= 0 && std::isfinite(weight), op, "the weight ", weight, " must be 0 or more, and finite");
  own = session.weight = weight;
}

std::vector<double> gather_weights(const char* op, Link& link, std::int64_t pass, double own) {
  const PassHeader header{pass, own};
  std::vector<PassHeader> headers(static_cast<std::size_t>(link.world()));
  link.all_gather(&header, sizeof header, headers.data());
  std::vector<double> weights;
  for (int r = 0; r < link.world(); ++r) {
    const PassHeader& theirs = headers[static_cast<std::size_t>(r)];
    require(theirs.pass == pass, op, "rank ", r, " is in backward() number ", theirs.pass, " and rank ", link.rank(),
            " in number ", pass);
    weights.push_back(theirs.weight);
  }
  return normalised_weights(op, weights);
}

std::string text_of(const std::exception_ptr& error) {
  try {
    std::rethrow_exception(error);
  } catch (const std::exception& known) {
    return known.what();
  } catch (...) {
    return "an unknown exception";
  }
}

void require_same_gradients(const char* op, Session& session, const NamedTensors& parameters,
                            const std::vector<char>& present) {
  std::vector<std::string> all;
  session.worker().run([&](Link& link) { all = link.gather_text({present.begin(), present.end()}); });
  for (std::size_t i = 0; i < parameters.size(); ++i) {
    std::string with, without;
    for (std::size_t r = 0; r < all.size(); ++r) (all[r][i] != 0 ? with : without) += concat(' ', r);
    require(with.empty() || without.empty(), op, "the parameter ", parameters[i].first, " of shape ",
            parameters[i].second.shape(), " got no gradient on rank", without, ", but on rank", with);
  }
}

}  // namespace crisol::dist
