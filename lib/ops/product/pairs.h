// Products of whole numbers of one byte with sums of i32: cl_kernels/product/pairs/.
#pragma once

#include "crisol/tensor.h"
#include "dispatch/stored/probe_store.h"
#include "ops/product/epilogue_layout.h"
#include "product/parameters.h"
#include "runtime/launch.h"

namespace crisol::ops {

/// The outcome of the probe for an instruction that multiplies words: "tdpbssd", "vpdpwssd", "pmaddwd" or "none". It
/// runs on CPUs only.
dispatch::ProbeOutcome found_pairs(runtime::DeviceState& device);

/// Whether products of pairs are the fastest products of whole numbers on the device. They are the fastest if the
/// device has such an instruction. They are right on every device that runs loops of the product's depth to the end.
bool prefers_pairs(Device device);

/// Whether pack_rows takes numbers of i16 from which the zero point is subtracted: the words of the fastest products
/// are pairs of such numbers.
bool takes_centred(Device device);

/// The sizes of packed lines of `runs` runs of `depth` numbers (product/pairs/pairs.h). Each run fills whole words.
struct WordLayout {
  std::int64_t groups;       ///< The words of a run.
  std::int64_t count;        ///< The words of a line.
  std::int64_t row;          ///< ROW_SIZE.
  std::int64_t panel_lines;  ///< PANEL_LINES.
};
WordLayout word_layout(runtime::DeviceState& device, std::int64_t depth, std::int64_t runs);

/// The numbers of x with their zero point, as words (product/pairs/pairs.h). x and zero have one dtype, u8 or i8. Rows
/// are the lines of x (…, m, k), with the result (count, m, row). Columns are the lines of x (…, k, n), with the result
/// (count, panels, panel_lines, 16). Filters (m, channels, taps) become rows (1, m, row) with a run of channels for
/// each tap. The zero point broadcasts to x and has one number for a line. It may be undefined.
///
/// Numbers of i16 for pack_rows have no zero point. takes_centred says where they are allowed. They are pairs as they
/// are, if rows have an even length.
Tensor pack_rows(const Tensor& x, const Tensor& zero);
Tensor pack_panels(const Tensor& x, const Tensor& zero);
Tensor pack_filters(const Tensor& x, const Tensor& zero);

/// What becomes of the sums. Tensors may be undefined. left has a number for each row or one number, and right for each
/// column or one number. Results of bytes need both.
struct Scaling {
  DType result = DType::i32;  ///< i32, f32, u8 or i8.
  Tensor left{}, right{};     ///< f32 factors of a sum.
  Tensor over{};              ///< One number of f32 that divides the factors.
  Tensor bias{};              ///< i32, added to the sums; or f32, added after the factors.
  bool bias_of_rows = false;  ///< Whether the bias is for rows, not for columns.
  Tensor zero{};              ///< One number of the result's dtype, which is added to a rounded result.
};

/// Where the columns of a result are: see ScaledParameters.
struct ResultPlaces {
  std::int64_t row, width, image;
};

/// The arguments for SCALED_PARAMETERS, ScaledParameters and EPILOGUE_PARAMETERS of kernels, and the prelude.
struct ScaledArgs {
  ScaledArgs(const char* op, const Scaling& given, const Tensor& y, std::int64_t rows, std::int64_t columns,
             const ResultPlaces& places, const ProductEpilogue* epilogue);

  Scaling by;  ///< The given tensors in row-major order.
  runtime::BufferView y, left, right, over, bias, zero, e0, e1;
  kernels::ScaledParameters parameters;
  kernels::EpilogueParameters strides;
  runtime::KernelArg scalars;
  std::string_view prelude;
};

/// The rows and columns of a tile, whose sums are in registers.
std::int64_t pair_rows(runtime::DeviceState& device);
std::int64_t pair_columns(runtime::DeviceState& device);

/// Defines of the programs that make words.
runtime::Defines number_defines(runtime::DeviceState& device);
/// Defines of the programs of a device that multiply words, for results of a dtype and an epilogue.
runtime::Defines pair_defines(runtime::DeviceState& device, DType result, const ProductEpilogue* epilogue);

/// (count, m, n) from packed rows and panels, scaled. Either may have one matrix for all products. Results of f32 and
/// of bytes may go through an epilogue, whose operands are f32, u8 or i8.
Tensor multiply_pairs(const Tensor& rows, const Tensor& panels, std::int64_t n, const Scaling& by = {},
                      const ProductEpilogue* epilogue = nullptr);

}  // namespace crisol::ops
