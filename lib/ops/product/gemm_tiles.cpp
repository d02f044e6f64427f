#include "ops/product/gemm_tiles.h"

#include <limits>

#include "ops/product/gemm_block.h"
#include "ops/product/gemm_epilogue.h"

namespace crisol::ops {

namespace {

constexpr std::int64_t most_step = std::int64_t{1} << 22;  // Bytes within a tile are counted in 32 bits.

bool has_unit_stride(const Matrix& matrix) { return matrix.row == 1 || matrix.column == 1; }

bool has_small_step(const Side& side) { return side.step >= 0 && side.step <= most_step; }

bool is_multiple(std::int64_t value, std::int64_t of = 4) { return value % of == 0; }

}  // namespace

void add_result(runtime::KernelSpec& spec, const DeviceInfo& info, const Epilogue* epilogue, int vectors) {
  spec.prelude = epilogue_prelude(epilogue);
  spec.defines.add({"VEC_C", vectors});
  define_block(spec.defines, info);
}

Side side_of(const Matrix& matrix, std::int64_t sides, std::int64_t depth) {
  const auto side = [&](bool along_depth, std::int64_t step) {
    return Side{along_depth, step,
                is_multiple(along_depth ? depth : sides) && is_multiple(step) && is_multiple(matrix.batch) &&
                    matrix.first.offset % 4 == 0};
  };
  if (matrix.column != 1) return side(false, matrix.column);
  const Side deep = side(true, matrix.row);
  if (deep.vectors || matrix.row != 1) return deep;
  return side(false, matrix.column);
}

const char* refuse_tiled_operands(const Gemm& problem) {
  if (problem.k == 0) return "the depth is 0";
  if (!has_unit_stride(problem.a) || !has_unit_stride(problem.b)) return "neither stride of an operand is 1";
  const Gemm p = with_rows_along(problem);
  if (!has_small_step(side_of(p.a, p.m, p.k)) || !has_small_step(side_of(p.b.transposed(), p.n, p.k)))
    return "the rows of an operand lie too far apart";
  return p.k > std::numeric_limits<std::int32_t>::max() / 2 ? "too deep" : nullptr;
}

Gemm with_rows_along(const Gemm& p) {
  if (p.c.column == 1 || p.c.row != 1 || (p.epilogue != nullptr && !p.epilogue->empty())) return p;
  Gemm turned = p;
  std::swap(turned.m, turned.n);
  turned.a = p.b.transposed();
  turned.b = p.a.transposed();
  turned.c = p.c.transposed();
  turned.flags &= ~(bias_per_row | bias_per_column);
  if (p.flags & bias_per_row) turned.flags |= bias_per_column;
  if (p.flags & bias_per_column) turned.flags |= bias_per_row;
  return turned;
}

int result_vectors(const Gemm& p) {
  for (const int count : {4, 2})
    if (p.c.column == 1 && is_multiple(p.n, count) && is_multiple(p.c.row, count) && is_multiple(p.c.batch, count) &&
        is_multiple(static_cast<std::int64_t>(p.c.first.offset), count) && reads_vectors(p.epilogue, count))
      return count;
  return 1;
}

int most_parts(const Gemm& p) { return most_block_parts(4 * p.m * p.n * p.batch, 0); }

const char* refuse_parts(const Gemm& p, int parts) {
  return parts > 1 && parts > most_parts(p) ? "the sums of the parts would take too much memory" : nullptr;
}

void launch_tiles(const Gemm& p, const TileCut& cut, runtime::KernelSpec multiply_spec, int run) {
  const DeviceInfo& info = runtime::info_of(p.device);
  const Side a = side_of(p.a, p.m, p.k), b = side_of(p.b.transposed(), p.n, p.k);
  const bool in_parts = cut.parts > 1;
  const std::int64_t size = p.m * p.n;
  const int stored = result_vectors(p), of_parts = is_multiple(p.n) ? 4 : is_multiple(p.n, 2) ? 2 : 1;

  multiply_spec.defines.add({"A_ALONG_K", a.along_depth ? 1 : 0});
  multiply_spec.defines.add({"B_ALONG_K", b.along_depth ? 1 : 0});
  multiply_spec.defines.add({"VEC", a.vectors && b.vectors ? 4 : 1});
  add_result(multiply_spec, info, in_parts ? nullptr : p.epilogue, std::min(run, in_parts ? of_parts : stored));
  runtime::Kernel& multiply = runtime::resolve(p.device, multiply_spec);
  runtime::Kernel* add = nullptr;
  runtime::BlockPtr sums;
  if (in_parts) {
    runtime::KernelSpec add_spec{"product/gemm_parts.cl", "gemm_parts"};
    add_result(add_spec, info, p.epilogue, stored);
    add = &runtime::resolve(p.device, add_spec);
    sums = runtime::allocate(p.device, static_cast<std::uint64_t>(4 * size * p.batch * cut.parts));
  }

  const EpilogueArguments e = epilogue_arguments(p.epilogue, p.a.first);
  const std::int32_t flags = p.flags | epilogue_flags(p.epilogue);
  const Matrix c = in_parts ? Matrix{{sums.get(), 0}, p.n, 1, size * cut.parts} : p.c;
  runtime::launch(p.device, multiply, {{cut.groups * cut.local[0], cut.local[1]}, {cut.local[0], cut.local[1]}},
                  p.a.first, p.b.first, c.first, p.bias, e.first, e.second, e.strides, e.scalars[0], e.scalars[1],
                  e.scalars[2], p.m, p.n, p.k, p.a.batch, a.step, p.b.batch, b.step, c.batch, c.row, c.column, size,
                  cut.part_depth, cut.parts, in_parts ? 0 : flags);
  if (!in_parts) return;
  runtime::launch(p.device, *add, runtime::flat_range(p.device, size * p.batch / stored), c.first, p.c.first, p.bias,
                  e.first, e.second, e.strides, e.scalars[0], e.scalars[1], e.scalars[2], p.m, p.n, p.batch, p.c.batch,
                  p.c.row, p.c.column, cut.parts, flags);
}

}  // namespace crisol::ops
