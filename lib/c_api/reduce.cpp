// Reductions by name, for C.
#include <array>
#include <string_view>

#include "c_api/handles.h"
#include "crisol/functions/reduce.h"

using namespace crisol;
using namespace crisol::c_api;

namespace {

struct Call {
  const Tensor& x;
  const Shape& axes;
  bool keepdim;
  double parameter;
};

struct Function {
  std::string_view name;
  Tensor (*run)(const Call&);
};

constexpr std::array functions{
    Function{"sum", [](const Call& c) { return sum(c.x, c.axes, c.keepdim); }},
    Function{"mean", [](const Call& c) { return mean(c.x, c.axes, c.keepdim); }},
    Function{"prod", [](const Call& c) { return prod(c.x, c.axes, c.keepdim); }},
    Function{"max", [](const Call& c) { return max(c.x, c.axes, c.keepdim); }},
    Function{"min", [](const Call& c) { return min(c.x, c.axes, c.keepdim); }},
    Function{"argmax", [](const Call& c) { return argmax(c.x, c.axes, c.keepdim); }},
    Function{"argmin", [](const Call& c) { return argmin(c.x, c.axes, c.keepdim); }},
    Function{"any", [](const Call& c) { return any(c.x, c.axes, c.keepdim); }},
    Function{"all", [](const Call& c) { return all(c.x, c.axes, c.keepdim); }},
    Function{"var", [](const Call& c) { return var(c.x, c.axes, c.keepdim, c.parameter); }},
    Function{"stddev", [](const Call& c) { return stddev(c.x, c.axes, c.keepdim, c.parameter); }},
    Function{"norm", [](const Call& c) { return norm(c.x, c.parameter, c.axes, c.keepdim); }},
    Function{"logsumexp", [](const Call& c) { return logsumexp(c.x, c.axes, c.keepdim); }},
};

}  // namespace

const char* crisol_reduce_names() {
  static const std::string names = [] {
    std::string all;
    for (const Function& function : functions) all.append(all.empty() ? "" : " ").append(function.name);
    return all;
  }();
  return names.c_str();
}

crisol_status crisol_reduce(const char* function, const crisol_tensor* x, int axis_count, const int64_t* axes,
                            int keepdim, double parameter, crisol_tensor** result) {
  return give_from(x, result, "reduce", [&](const Tensor& t) {
    const std::string_view name = &need(function, "reduce", "function");
    const Shape those = shape_of(axes, axis_count, "reduce", "axes");
    for (const Function& one : functions)
      if (one.name == name) return one.run({t, those, keepdim != 0, parameter});
    fail(ErrorCode::invalid_argument, "reduce", "there is no '", name, "'; there are: ", crisol_reduce_names());
  });
}

crisol_status crisol_cumsum(const crisol_tensor* x, int axis, crisol_tensor** result) {
  return give_from(x, result, "cumsum", [&](const Tensor& t) { return cumsum(t, axis); });
}

crisol_status crisol_cumprod(const crisol_tensor* x, int axis, crisol_tensor** result) {
  return give_from(x, result, "cumprod", [&](const Tensor& t) { return cumprod(t, axis); });
}

crisol_status crisol_logcumsumexp(const crisol_tensor* x, int axis, crisol_tensor** result) {
  return give_from(x, result, "logcumsumexp", [&](const Tensor& t) { return logcumsumexp(t, axis); });
}
