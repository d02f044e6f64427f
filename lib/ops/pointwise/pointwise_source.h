// OpenCL C from an expression graph.
#pragma once

#include <string>
#include <string_view>

#include "ops/pointwise/pointwise_graph.h"

namespace crisol::ops {

/// Type of a value in a kernel: "float" (f32, f16), "int" (i32, u8, bool) or "long" (i64).
const char* register_type(DType dtype) noexcept;
/// Type of an element in memory, as common/element.h takes it: "float", "half", "int", "long", "uchar" or "boolean".
const char* memory_type(DType dtype) noexcept;

/// The number of calls of the function `of` in the graph's expressions, or of all functions (of OpenCL and of
/// cl_kernels/common/math/).
std::size_t function_calls(const PointwiseGraph& graph, std::string_view of = {});

/// `#include` lines for the files of cl_kernels/common/ that function_of's text needs. They may be in a KernelSpec's
/// prelude, behind a define of VW.
std::string includes_of(const PointwiseGraph& graph);

/// The graph as a function, always inlined:
///
///     INLINE void name(const float16 x0, const int16 x1, const float s0, float16* y0, int16* y1)
///
/// x: the inputs in the registers of their dtypes; s: the numbers, never vectors; y: the outputs in the registers of
/// theirs. `width` is "" for single elements, "4", "8" or "16" for vectors, or "##W" for the body of a macro with a
/// parameter W, whose lines but the last end with a backslash.
std::string function_of(const PointwiseGraph& graph, std::string_view name, std::string_view width);

}  // namespace crisol::ops
