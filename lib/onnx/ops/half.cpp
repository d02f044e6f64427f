#include "onnx/ops/half.h"

#include <algorithm>

#include "crisol/dtype_table.h"
#include "crisol/functions/elementwise.h"

namespace crisol::onnx {

using graph::Data;
using graph::Datum;

Tensor widened(const Tensor& x) { return x.to(promote_types(x.dtype(), DType::f32)); }

graph::Run in_f32(Call& call, graph::Run run) {
  for (std::size_t i = 0; i < call.inputs(); ++i) call.require_floating(i);
  graph::Run converted = [run](const Data& in, Device device) {
    const auto has_halves = [](const Datum& datum) { return datum.defined() && is_half(datum.dtype()); };
    if (std::none_of(in.begin(), in.end(), has_halves)) return run(in, device);
    Data wide = in;
    for (Datum& datum : wide)
      if (has_halves(datum)) datum = datum.tensor(device).to(DType::f32);
    Data results = run(wide, device);
    results[0] = results[0].tensor(device).to(in[0].dtype());
    return results;
  };
  converted.with_epilogue = run.with_epilogue;  // Passes use it only for f32.
  return converted;
}

}  // namespace crisol::onnx
