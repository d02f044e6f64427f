// The class Expr of Python.
#pragma once

#include "bindings.h"

namespace crisol::python {

/// An expression of a trace.
struct Traced {
  Expr expr;
  bool is_truth;  ///< Whether it is known to be bool. The dtypes of the arguments are known in a trace.
};

/// Binds Expr, its operators and the functions of crisol/ops/pointwise.def for it.
void bind_expressions(nb::module_& m);

}  // namespace crisol::python
