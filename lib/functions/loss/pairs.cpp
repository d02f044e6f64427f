// Losses and measures of pairs of vectors, made of differentiable functions.
#include "autograd/autocast.h"
#include "base/text.h"
#include "crisol/functions/elementwise.h"
#include "crisol/functions/loss.h"
#include "crisol/functions/reduce.h"
#include "functions/loss/reduced.h"
#include "ops/collapse.h"

namespace crisol {

using autograd::Autocasts;

Tensor margin_ranking_loss(const Tensor& a, const Tensor& b, const Tensor& target, Reduction reduction, double margin) {
  if (const Autocasts casts("margin_ranking_loss"); casts)
    return margin_ranking_loss(casts(a), casts(b), casts(target), reduction, margin);
  return reduced(maximum(-target * (a - b) + margin, 0.0), reduction);
}

Tensor cosine_similarity(const Tensor& a, const Tensor& b, int axis, double eps) {
  constexpr const char* op = "cosine_similarity";
  if (const Autocasts casts(op); casts) return cosine_similarity(casts(a), casts(b), axis, eps);
  require(a.defined() && b.defined(), op, "a tensor is undefined");
  const Shape shape = ops::broadcast_shape(op, a.shape(), b.shape());
  const auto unit = [&](const Tensor& x) {
    const Tensor all = x.expand(shape);
    return all / maximum(norm(all, 2, {axis}, true), eps);
  };
  return sum(unit(a) * unit(b), {axis});
}

Tensor cosine_embedding_loss(const Tensor& a, const Tensor& b, const Tensor& target, Reduction reduction,
                             double margin) {
  if (const Autocasts casts("cosine_embedding_loss"); casts)
    return cosine_embedding_loss(casts(a), casts(b), casts(target), reduction, margin);
  const auto square_of_length = [](const Tensor& x) { return sum(square(x), {-1}) + 1e-12; };
  const Tensor cosine = sum(a * b, {-1}) / sqrt(square_of_length(a) * square_of_length(b));
  const Tensor same = where(eq(target, 1), 1 - cosine, 0.0);
  return reduced(same + where(eq(target, -1), maximum(cosine - margin, 0.0), 0.0), reduction);
}

Tensor pairwise_distance(const Tensor& a, const Tensor& b, double p, double eps, bool keepdim) {
  return norm(a - b + eps, p, {-1}, keepdim);
}

Tensor triplet_margin_loss(const Tensor& anchor, const Tensor& positive, const Tensor& negative,
                           const TripletMarginOptions& options) {
  if (const Autocasts casts("triplet_margin_loss"); casts)
    return triplet_margin_loss(casts(anchor), casts(positive), casts(negative), options);
  const auto distance = [&](const Tensor& a, const Tensor& b) {
    return pairwise_distance(a, b, options.p, options.eps);
  };
  Tensor far = distance(anchor, negative);
  if (options.swap) far = minimum(far, distance(positive, negative));
  return reduced(maximum(distance(anchor, positive) - far + options.margin, 0.0), options.reduction);
}

}  // namespace crisol
