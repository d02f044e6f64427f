// Ops on the bits of whole numbers and of elements.
#include "base/element_number.h"
#include "base/text.h"
#include "crisol/functions/bitwise.h"
#include "onnx/ops/element_types.h"
#include "onnx/ops/math/elements.h"
#include "ops/pointwise/whole_rows.h"

namespace crisol::onnx {

namespace {

using graph::Data;
using graph::Run;

Run bit_shift(Call& call) {
  const std::string direction = call.text("direction", "");
  require(direction == "LEFT" || direction == "RIGHT", "onnx", "attribute direction is \"", direction,
          "\", LEFT or RIGHT expected");
  return direction == "LEFT" ? elements<rows::bitwise_left_shift>(call) : elements<rows::bitwise_right_shift>(call);
}

Run bit_cast_(Call& call) {
  call.check_counts(1, 1);
  require(call.has("to"), "onnx", "attribute to is missing");
  const DType dtype = dtype_of_number(call.integer("to", 0));
  call.gives(0, value_of(dtype, call.rank_of(0)));
  return [=](const Data& in, Device device) {
    const Tensor x = in[0].tensor(device);
    require(size_of(x.dtype()) == size_of(dtype), "onnx", "the elements of ", x.dtype(), " and ", dtype,
            " differ in size");
    return Data{bit_cast(x, dtype)};
  };
}

}  // namespace

std::vector<Row> bit_rows() {
  constexpr std::int64_t newest = newest_version;
  return {
      {"BitCast", 26, newest, bit_cast_},
      {"BitShift", 11, newest, bit_shift},
      {"BitwiseAnd", 18, newest, elements<rows::bitwise_and>},
      {"BitwiseNot", 18, newest, elements<rows::bitwise_not>},
      {"BitwiseOr", 18, newest, elements<rows::bitwise_or>},
      {"BitwiseXor", 18, newest, elements<rows::bitwise_xor>},
  };
}

}  // namespace crisol::onnx
