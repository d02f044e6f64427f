// Only for lib/ops/conv, until it is converted to plans; see tiled_product.h.
#include "ops/product/gemm_tiles.h"

#include "ops/product/gemm_block.h"
#include "ops/product/gemm_epilogue.h"

namespace crisol::ops {
inline namespace before_plans {

void add_result(runtime::KernelSpec& spec, const DeviceInfo& info, const Epilogue* epilogue, int vectors) {
  spec.prelude = epilogue_prelude(epilogue);
  spec.defines.add({"VEC_C", vectors});
  define_block(spec.defines, info);
}

}  // namespace before_plans
}  // namespace crisol::ops
