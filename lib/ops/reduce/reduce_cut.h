// How a reduction is divided among work-items: one function for each variant.
#pragma once

#include "ops/reduce/reduce_problem.h"
#include "runtime/launch.h"

namespace crisol::ops {

/// FORM of reduce_groups.cl: which elements are read at once.
enum class Vectors : std::uint8_t { scalars = FORM_SCALARS, along = FORM_ALONG, across = FORM_ACROSS };

struct Cut {
  const char *source, *entry, *join;  ///< The names of the kernel, and of the kernel that joins parts.
  runtime::NdRange range;
  std::int64_t parts;                     ///< The number of parts of each output's elements.
  std::int64_t split_a = 0, split_b = 0;  ///< SPLIT_A and SPLIT_B of the kernel.
  std::int64_t span = 0, rows = 0;        ///< SPAN and ROWS of reduce_groups.cl: the dimensions of its groups.
  Vectors vectors = Vectors::scalars;
  bool joined_by_items = false;  ///< Whether a work-item joins the parts of an output. Otherwise a group does.

  bool on_gpu() const { return span > 0; }
};

Cut cut_rows(const ReduceProblem& p, const dispatch::Target& target);
Cut cut_columns(const ReduceProblem& p, const dispatch::Target& target);
Cut cut_items(const ReduceProblem& p, const dispatch::Target& target);
Cut cut_groups(const ReduceProblem& p, const dispatch::Target& target);

/// The number of vectors in a strip of columns. Their states should stay in the L1 cache. On llvmpipe it is small,
/// because loops must be short.
inline int strip_vectors(const dispatch::Target& target) { return target.loop_budget < 1 << 20 ? 4 : 64; }

}  // namespace crisol::ops
