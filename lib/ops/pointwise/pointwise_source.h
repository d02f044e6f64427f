// OpenCL C from an expression graph.
#pragma once

#include <string>
#include <string_view>

#include "ops/pointwise/pointwise_graph.h"

namespace crisol::ops {

/// The type of a value in a kernel: "float", "double", "int" or "long". See PointwiseGraph.
const char* register_type(DType dtype) noexcept;
/// The type of an element in memory, as common/element.h names it: "float", "half", "bfloat", "double", "char" and so
/// on.
const char* memory_type(DType dtype) noexcept;

/// How often the graph's expressions call the function `of`. By default it counts all functions of OpenCL and of
/// cl_kernels/common/math/.
std::size_t function_calls(const PointwiseGraph& graph, std::string_view of = {});

/// `#include` lines for the files of cl_kernels/common/ that function_of's text needs. They may be in a KernelSpec's
/// prelude, after a define of VW.
std::string includes_of(const PointwiseGraph& graph);

/// The graph as a function, always inlined:
///
///     INLINE void name(const float16 x0, const int16 x1, const float s0, float16* y0, int16* y1)
///
/// x are the inputs and y the outputs, in the registers of their dtypes. s are the numbers, which are never vectors.
/// `width` is "" for single elements and "4", "8" or "16" for vectors. With "##W" the text is the body of a macro with
/// a parameter W: all its lines except for the last end with a backslash.
std::string function_of(const PointwiseGraph& graph, std::string_view name, std::string_view width);

}  // namespace crisol::ops
