// The C interface and the C++ interface in one program.
#pragma once

#include "crisol/c/crisol.h"
#include "crisol/export.h"
#include "crisol/nn/module.h"
#include "crisol/optim/optimizer.h"
#include "crisol/tensor.h"

namespace crisol::c {

/// A new C handle to the tensor. The caller destroys it with crisol_tensor_destroy.
CRISOL_API crisol_tensor* handle_of(const Tensor& x);
/// The tensor of a C handle. Throws invalid_argument for null.
CRISOL_API Tensor tensor_of(const crisol_tensor* handle);
/// The module of a C handle, which the handle owns. This function and the next one throw invalid_argument for null.
CRISOL_API nn::Module& module_of(crisol_model* handle);
/// The optimiser of a C handle, which the handle owns.
CRISOL_API optim::Optimizer& optimizer_of(crisol_optimizer* handle);
/// Call it in a catch block. It stores the exception's text for crisol_error_message(), and returns the status. For C
/// functions of libraries that use this library.
CRISOL_API crisol_status status_of_exception() noexcept;

}  // namespace crisol::c
