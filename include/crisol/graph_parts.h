// The parts of graphs that have several owners, for languages whose garbage collector must see what functions keep.
#pragma once

#include <cstdint>
#include <memory>

#include "crisol/export.h"
#include "crisol/gradients.h"

namespace crisol {

/// A part of a graph: a tensor, its place in the graph, an op, or a call of checkpoint(). The object does
/// not own the part.
struct GraphPart {
  /// What a part is.
  enum class Kind : std::uint8_t { tensor, place, op, checkpoint };
  Kind kind = Kind::tensor;        ///< Tells what `part` points to.
  std::weak_ptr<const void> part;  ///< The part; expired once its last owner is gone.
};

/// Gets the functions that a part keeps, and the parts that it owns together with others.
class CRISOL_API PartVisitor : public FunctionVisitor {
 public:
  ~PartVisitor() override;
  /// A part that has more owners than these. The visit does not go on there.
  virtual void shared(const GraphPart& part, std::int64_t owners) = 0;
};

/// Visits the functions and parts that live only because of this number of owners of a part.
CRISOL_API void visit_part(const GraphPart& part, std::int64_t owners, PartVisitor& visitor);

}  // namespace crisol
