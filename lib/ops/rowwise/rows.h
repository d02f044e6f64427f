// How kernels that reduce rows (cl_kernels/rowwise/rows.h) are laid out on a device. A row is worked on by one group:
//
//   vector  a work-item, alone in its group, goes through several rows with vectors: a CPU, long contiguous rows
//   item    one work-item without vectors to a row, 64 to a group: short rows anywhere, strided rows on a CPU
//   tree    a group of up to 128 work-items with a reduction in local memory: a GPU, long rows
#pragma once

#include <cstdint>

#include "base/ceil_div.h"
#include "dispatch/choose.h"
#include "rowwise/sizes.h"

namespace crisol::ops {

using namespace dispatch;

/// Base of the problems that choose among the three.
struct RowProblem {
  std::int64_t rows;
  std::int64_t length;  ///< Elements of a row.
  std::int64_t step;    ///< Distance between them.

  ProblemKey key() const { return {{"rows", rows}, {"length", length}, {"step", step}}; }
};

struct RowGeometry {
  int lanes;           ///< VW: elements that a work-item takes at once.
  std::int64_t group;  ///< GROUP: work-items to a row.
  std::int64_t local;  ///< Work-items in a work-group.

  /// Parts of a row of `chunks` vectors that is too long for one group (PART_CHUNKS in the kernels).
  std::int64_t parts_of(std::int64_t chunks) const noexcept { return ceil_div(chunks, PART_CHUNKS_OF_ITEM * group); }
  /// Vectors that cover `elements`.
  std::int64_t chunks_of(std::int64_t elements) const noexcept { return ceil_div(elements, lanes); }
  /// A group for each of `rows`; with `parts`, for each part of each row.
  runtime::NdRange range(std::int64_t rows, std::int64_t parts = 1) const { return items(rows * group, parts); }
  /// Rows of `length` elements that the device's loop budget allows a work-item.
  std::int64_t rows_of_item(const Target& target, std::int64_t length) const;
  /// The range of kernels that go through `rows` rows of `length` elements with EACH_ROW.
  runtime::NdRange each_row(const Target& target, std::int64_t rows, std::int64_t length) const;
  /// `count` work-items, rounded up to whole groups, for each part.
  runtime::NdRange items(std::int64_t count, std::int64_t parts = 1) const {
    return {{ceil_div(count, local) * local, parts}, {local, 1}};
  }
};

/// The defines that rowwise/rows.h needs.
runtime::Defines row_defines(const Target& target, const RowGeometry& g);

RowGeometry vector_rows(const Target& target);
RowGeometry item_rows(const Target& target);
RowGeometry tree_rows(const Target& target);
/// The geometry for one row of `length` numbers that kernels of geometry `g` made. A work-item of llvmpipe ends its
/// loops, silently, after 65535 rounds in all: more than a few thousand numbers are shared by a tree on a CPU too.
RowGeometry total_row(const Target& target, const RowGeometry& g, std::int64_t length);

/// Why these rows cannot have that geometry, or nullptr.
const char* against_vector_rows(const RowProblem& problem, const Target& target);
const char* against_item_rows(const RowProblem& problem, const Target& target);
/// The tree is the last resort: throws for rows that not even it can do (on llvmpipe, above a million elements).
void require_tree_rows(const RowProblem& problem, const Target& target);

/// The three variants of an op. `plan` makes the plan for a geometry, and `Problem` is a RowProblem.
template <class Problem, Plan (*plan)(const Problem&, const Target&, const RowGeometry&)>
inline constexpr Variant<Problem> row_variants[] = {
    {"vector", DeviceClass::any,
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

}  // namespace crisol::ops
