// The class Expr of Python.
#pragma once

#include "bindings.h"

namespace crisol::python {

/// An expression that is being traced.
struct TypedExpr {
  Expr expr;
  bool is_truth;  ///< Whether it is known to be bool. A trace knows the dtypes of the arguments.
};

/// Binds Expr, its operators and the functions of crisol/ops/pointwise.def for it.
void bind_expressions(nb::module_& m);

}  // namespace crisol::python
