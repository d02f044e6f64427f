// Products of a few rows with a weight, which is kept packed from its second use on: one launch then, at the speed of
// the weight's memory. The first use takes the same kernel, so that it gives the same bits.
#include "dispatch/persistent.h"
#include "ops/product/gemm_cpu.h"
#include "ops/product/gemm_epilogue.h"

namespace crisol::ops {

namespace {

constexpr std::int64_t most_rows = 16, most_deep = 8192;

std::int64_t vectors_of(const Gemm& p) {
  const std::int64_t width = cpu_vector_width(p.device);
  return (p.n + width - 1) / width;
}

// Loop iterations of one unit of work, a vector of columns.
std::int64_t iterations_of_unit(const Gemm& p) { return (p.m + 3) / 4 * (p.k + 4 * (cpu_vector_width(p.device) + 4)); }

}  // namespace

const char* refuse_gemm_skinny(const Gemm& p, const DeviceInfo& info) {
  if (!takes_cpu_kernels(info)) return "made for CPUs";
  if (p.m > most_rows) return "more than 16 rows";
  if (p.b_storage == nullptr || !b_source(p)) return "the right operand is not known as a weight";
  if (p.c.column != 1) return "the rows of the result are not contiguous";
  if (p.batch != 1) return "a batch of products";
  if (p.k > most_deep && vectors_of(p) < 16) return "too deep for so few columns";
  if (iterations_of_unit(p) > loop_budget(info)) return "too deep for the device's loops";
  return nullptr;
}

void run_gemm_skinny(const Gemm& p) {
  const std::int64_t width = cpu_vector_width(p.device);
  runtime::Defines defines{{"VW", width}, {"MR", width == 16 ? 8 : 4}, {"NV", panel_columns(p.device) / width}};
  if (!runtime::info_of(p.device).fast_fma) defines.add({"NO_FMA", 1});
  runtime::Kernel& pack = runtime::resolve(p.device, {"product/gemm_cpu.cl", "gemm_pack", defines});
  runtime::Kernel& skinny =
      runtime::resolve(p.device, {"product/gemm_skinny_cpu.cl", "gemm_skinny", defines, epilogue_prelude(p.epilogue)});
  const runtime::BlockPtr columns = packed_b(p, pack, panel_columns(p.device));
  const EpilogueArguments e = epilogue_arguments(p.epilogue, p.a.first);
  runtime::launch(p.device, skinny, persistent_range(p.device, vectors_of(p), iterations_of_unit(p)), p.a.first,
                  runtime::BufferView{columns.get(), 0}, p.c.first, p.bias, e.first, e.second, e.strides, e.scalars[0],
                  e.scalars[1], e.scalars[2], static_cast<std::int32_t>(p.m), p.n, static_cast<std::int32_t>(p.k),
                  p.a.row, p.a.column, p.c.row, p.flags | epilogue_flags(p.epilogue));
}

}  // namespace crisol::ops
