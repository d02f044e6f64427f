// How kernels that reduce rows (cl_kernels/rowwise/rows.h) are arranged on a device. One group works on a row:
//
//   vector  a work-item, alone in its group, goes through several rows with vectors: a CPU, long contiguous rows
//   lanes   a work-item, alone in its group, takes a row in each lane of its vectors: a CPU, other rows
//   item    one work-item without vectors to a row, 64 to a group: short rows on a GPU, and on a CPU in ops without
//   "lanes" tree    a group of up to 128 work-items with a reduction in local memory: a GPU, long rows
#pragma once

#include <cstdint>
#include <utility>

#include "base/ceil_div.h"
#include "dispatch/choose.h"
#include "ops/result.h"
#include "ops/storage.h"
#include "rowwise/sizes.h"

namespace crisol::ops {

using namespace dispatch;

/// The base of problems that choose among these.
struct RowProblem {
  std::int64_t rows;
  std::int64_t length;  ///< Elements of a row.
  std::int64_t step;    ///< Distance between elements of a row.
  std::int64_t type;    ///< The DType of the elements in memory.

  ProblemKey key() const { return ProblemKey{{"rows", rows}, {"length", length}, {"step", step}}.with_types(type); }
};

/// The tensors that a caller gives for the three results of a normalisation, or nullptr for new ones.
struct NormInto {
  const Tensor *y = nullptr, *mean = nullptr, *scale = nullptr;

  void require_apart(const char* op) const {
    for (const auto& [a, b] : {std::pair(y, mean), std::pair(y, scale), std::pair(mean, scale)})
      ops::require_apart(op, a, b);
  }
};

struct RowGeometry {
  int lanes;              ///< VW: the number of elements that a work-item takes at once.
  std::int64_t group;     ///< GROUP: the number of work-items for a row.
  std::int64_t local;     ///< The number of work-items in a work-group.
  bool in_lanes = false;  ///< ROW_LANES: the elements that a work-item takes at once belong to as many rows.

  /// The number of parts of a row of `chunks` vectors that is too long for one group (PART_CHUNKS in the kernels).
  std::int64_t parts_of(std::int64_t chunks) const noexcept { return ceil_div(chunks, PART_CHUNKS_OF_ITEM * group); }
  /// The number of vectors that cover `elements` elements.
  std::int64_t chunks_of(std::int64_t elements) const noexcept { return ceil_div(elements, lanes); }
  /// One group for each of `rows` rows. With `parts`, one group for each part of each row.
  runtime::NdRange range(std::int64_t rows, std::int64_t parts = 1) const { return items(rows * group, parts); }
  /// How many rows of `length` elements a work-item may take within the device's loop budget.
  std::int64_t rows_of_item(const Target& target, std::int64_t length) const;
  /// The range of kernels that go through `rows` rows of `length` elements, which are `step` apart, with EACH_ROW.
  runtime::NdRange each_row(const Target& target, std::int64_t rows, std::int64_t length, std::int64_t step = 1) const;
  /// `count` work-items, rounded up to whole groups, for each part.
  runtime::NdRange items(std::int64_t count, std::int64_t parts = 1) const {
    return {{ceil_div(count, local) * local, parts}, {local, 1}};
  }
};

/// The defines that rowwise/rows.h needs. `type` is the DType of the elements.
runtime::Defines row_defines(const Target& target, const RowGeometry& g, std::int64_t type = 0);

RowGeometry vector_rows(const Target& target);
RowGeometry lane_rows(const Target& target);
RowGeometry item_rows(const Target& target);
RowGeometry tree_rows(const Target& target);
/// The geometry for one row of `length` numbers that kernels of geometry `g` made. Many work-items share a row of more
/// than a few thousand numbers, even on a CPU, because a work-item of llvmpipe silently ends its loops after 65535
/// rounds in all.
RowGeometry total_row(const Target& target, const RowGeometry& g, std::int64_t length);

/// The reason why these rows cannot have the geometry "vector", or nullptr.
const char* against_vector_rows(const RowProblem& problem, const Target& target);
const char* against_lane_rows(const RowProblem& problem, const Target& target);
const char* against_item_rows(const RowProblem& problem, const Target& target);
/// Throws for rows that even the tree, the last variant, cannot take: on llvmpipe, rows of more than a million
/// elements.
void require_tree_rows(const RowProblem& problem, const Target& target);

/// The three variants of an op. `plan` makes the plan for a geometry. `Problem` must be a RowProblem.
template <class Problem, Plan (*plan)(const Problem&, const Target&, const RowGeometry&)>
inline constexpr Variant<Problem> row_variants[] = {
    {"vector", DeviceClass::cpu,
     [](const Problem& p, const Target& target, std::size_t) -> PlanOr {
       if (const char* reason = against_vector_rows(p, target)) return reason;
       return plan(p, target, vector_rows(target));
     }},
    {"item", DeviceClass::any,
     [](const Problem& p, const Target& target, std::size_t) -> PlanOr {
       if (const char* reason = against_item_rows(p, target)) return reason;
       return plan(p, target, item_rows(target));
     }},
    {"tree", DeviceClass::any,
     [](const Problem& p, const Target& target, std::size_t) -> PlanOr {
       require_tree_rows(p, target);
       return plan(p, target, tree_rows(target));
     }},
};

/// The same, and "lanes".
template <class Problem, Plan (*plan)(const Problem&, const Target&, const RowGeometry&)>
inline constexpr Variant<Problem> lane_row_variants[] = {
    row_variants<Problem, plan>[0],
    {
      "lanes", DeviceClass::cpu, [](const Problem& p, const Target& target, std::size_t) -> PlanOr {
        if (const char* reason = against_lane_rows(p, target)) return reason;
        return plan(p, target, lane_rows(target));
      }
    },
    row_variants<Problem, plan>[1],
    row_variants<Problem, plan>[2],
};

}  // namespace crisol::ops
