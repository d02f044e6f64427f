#include "crisol/functions/elementwise.h"

#include "autograd/node.h"
#include "crisol/ops/reduce.h"

namespace crisol {

using autograd::Gradients;
using autograd::Needs;
using autograd::Saved;

// What `saved` of a row keeps, and hands to the backward.
#define KEEP_none
#define KEEP_x , x = Saved(x)
#define KEEP_y , y = Saved(result)
#define KEEP_ab , a = Saved(a), b = Saved(b)
#define GIVE_none
#define GIVE_x , x.get()
#define GIVE_y , y.get()
#define GIVE_ab , a.get(), b.get()

// The scalars come last, each behind a comma.
#define RECORD_UNARY(name, saved, ...)                                                             \
  {                                                                                                \
    const Tensor result = ops::name(x __VA_ARGS__);                                                \
    if (!autograd::recording({x})) return result;                                                  \
    const auto backward = [=](const Tensor& dy SAVED_##saved) {                                    \
      return ops::name##_backward(dy GIVEN_##saved __VA_ARGS__);                                   \
    };                                                                                             \
    return autograd::record(#name, result, {x}, [backward KEEP_##saved](const Tensor& dy, Needs) { \
      return Gradients{backward(dy GIVE_##saved)};                                                 \
    });                                                                                            \
  }
#define SAVED_none
#define SAVED_x , const Tensor& input
#define SAVED_y , const Tensor& output
#define GIVEN_none
#define GIVEN_x , input
#define GIVEN_y , output

#define CRISOL_UNARY(name, saved, ...) Tensor name(const Tensor& x) RECORD_UNARY(name, saved)
#define CRISOL_UNARY_1(name, s, initial, at, saved, ...) \
  Tensor name(const Tensor& x, double s) RECORD_UNARY(name, saved, , s)
#define CRISOL_UNARY_2(name, s, at, s2, at_2, saved, ...) \
  Tensor name(const Tensor& x, double s, double s2) RECORD_UNARY(name, saved, , s, s2)
#define CRISOL_BINARY(name, saved, ...)                                                                              \
  Tensor name(const Tensor& a, const Tensor& b) {                                                                    \
    const Tensor result = ops::name(a, b);                                                                           \
    if (!autograd::recording({a, b})) return result;                                                                 \
    return autograd::record(#name, result, {a, b},                                                                   \
                            [shape_a = a.shape(), shape_b = b.shape() KEEP_##saved](const Tensor& dy, Needs needs) { \
                              Gradients gradients(2);                                                                \
                              if (needs[0])                                                                          \
                                gradients[0] = ops::sum_to(ops::name##_backward_a(dy GIVE_##saved), shape_a);        \
                              if (needs[1])                                                                          \
                                gradients[1] = ops::sum_to(ops::name##_backward_b(dy GIVE_##saved), shape_b);        \
                              return gradients;                                                                      \
                            });                                                                                      \
  }
#include "crisol/ops/pointwise.def"

Tensor where(const Tensor& condition, const Tensor& a, const Tensor& b) {
  const Tensor result = ops::where(condition, a, b);
  if (!autograd::recording({a, b})) return result;
  return autograd::record(
      "where", result, {a, b},
      [shape_a = a.shape(), shape_b = b.shape(), condition = Saved(condition)](const Tensor& dy, Needs needs) {
        Gradients gradients(2);
        if (needs[0]) gradients[0] = ops::sum_to(ops::where_backward_a(dy, condition.get()), shape_a);
        if (needs[1]) gradients[1] = ops::sum_to(ops::where_backward_b(dy, condition.get()), shape_b);
        return gradients;
      });
}

}  // namespace crisol
