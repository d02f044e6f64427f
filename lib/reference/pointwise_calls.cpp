#include "reference/pointwise_calls.h"

#include "crisol/functions/elementwise.h"
#include "crisol/ops/elementwise.h"

namespace crisol::reference {

#define S_NONE
#define S_ONE(...) , s[0]
#define S_TWO(...) , s[0], s[1]
#define ONLY_S_NONE
#define ONLY_S_ONE(...) s[0]
#define ONLY_S_TWO(...) s[0], s[1]
#define SIGNATURE_NONE
#define SIGNATURE_ONE(name, initial, at) ", " #name " " #initial
#define SIGNATURE_TWO(name, initial, at, name_2, initial_2, at_2) ", " #name " " #initial ", " #name_2 " " #initial_2
#define READS_none
#define READS_x , v[1]
#define READS_y , v[1]
#define CALL(...) \
  [](const std::vector<Tensor>& v, [[maybe_unused]] const std::vector<double>& s) -> Tensor { return __VA_ARGS__; }
#define IN_PLACE(...)                                                                         \
  [](const std::vector<Tensor>& v, [[maybe_unused]] const std::vector<double>& s) -> Tensor { \
    Tensor x = v[0];                                                                          \
    return __VA_ARGS__;                                                                       \
  }

const std::vector<PointwiseCalls>& pointwise_calls() {
  static const std::vector<PointwiseCalls> calls{
#define CRISOL_UNARY(name, x, scalars, rule, saved, ...)            \
  {#name,                                                           \
   1,                                                               \
   #rule,                                                           \
   #name "(" #x SIGNATURE_##scalars ")",                            \
   CALL(ops::name(v[0] S_##scalars)),                               \
   CALL(crisol::name(v[0] S_##scalars)),                            \
   {CRISOL_IN_PLACE_##rule(IN_PLACE(x.name##_(ONLY_S_##scalars)))}, \
   {CRISOL_GRADIENT_##rule(CALL(ops::name##_backward(v[0] READS_##saved S_##scalars)))}},
#define CRISOL_BINARY(name, a, b, scalars, rule, ...)               \
  {#name,                                                           \
   2,                                                               \
   #rule,                                                           \
   #name "(" #a ", " #b SIGNATURE_##scalars ")",                    \
   CALL(ops::name(v[0], v[1] S_##scalars)),                         \
   CALL(crisol::name(v[0], v[1] S_##scalars)),                      \
   {CRISOL_IN_PLACE_##rule(IN_PLACE(x.name##_(v[1] S_##scalars)))}, \
   {}},
#define CRISOL_TERNARY(name, a, b, c, scalars, rule, ...)                 \
  {#name,                                                                 \
   3,                                                                     \
   #rule,                                                                 \
   #name "(" #a ", " #b ", " #c SIGNATURE_##scalars ")",                  \
   CALL(ops::name(v[0], v[1], v[2] S_##scalars)),                         \
   CALL(crisol::name(v[0], v[1], v[2] S_##scalars)),                      \
   {CRISOL_IN_PLACE_##rule(IN_PLACE(x.name##_(v[1], v[2] S_##scalars)))}, \
   {}},
#include "crisol/ops/pointwise.def"
  };
  return calls;
}

}  // namespace crisol::reference
