#include "base/text.h"
#include "crisol/ops/matmul.h"
#include "crisol/ops/probe.h"
#include "ops/probe/shuffle.h"
#include "ops/product/pairs.h"
#include "ops/quantized/byte_products.h"

namespace crisol::ops {

std::vector<ProbeResult> probe_results(Device device) {
  std::vector<ProbeResult> all;
  for (const Precision precision : {Precision::tf32, Precision::fp16, Precision::bf16}) {
    const MatrixUnits units = matrix_units(device, precision);
    all.push_back({concat("matrix_", name_of(precision)), units.unit.empty() ? "none" : units.unit, units.reason});
  }
  const dispatch::ProbeOutcome pairs = found_pairs(device.state());
  all.push_back({"pairs", pairs.found, pairs.reason});
  const dispatch::ProbeOutcome bytes = found_byte_products(device.state());
  all.push_back({"bytes", bytes.found, bytes.reason});
  const dispatch::ProbeOutcome shuffles = found_shuffles(device.state());
  all.push_back({"shuffle", shuffles.found, shuffles.reason});
  return all;
}

}  // namespace crisol::ops
