// The precision of products, for C.
#include "crisol/precision.h"

#include <map>
#include <mutex>

#include "c_api/handles.h"
#include "crisol/ops/matmul.h"

using namespace crisol;
using namespace crisol::c_api;

namespace {

Precision precision_of(crisol_precision precision, const char* op) {
  require(precision >= CRISOL_PRECISION_FP32 && precision <= CRISOL_PRECISION_BF16, op, "precision ", precision,
          " is none");
  return static_cast<Precision>(precision);
}

static_assert(static_cast<int>(Precision::fp32) == CRISOL_PRECISION_FP32 &&
              static_cast<int>(Precision::tf32) == CRISOL_PRECISION_TF32 &&
              static_cast<int>(Precision::fp16) == CRISOL_PRECISION_FP16 &&
              static_cast<int>(Precision::bf16) == CRISOL_PRECISION_BF16);

}  // namespace

crisol_status crisol_set_precision(crisol_precision precision) {
  return guarded([&] { set_precision(precision_of(precision, "set_precision")); });
}

crisol_status crisol_get_precision(crisol_precision* result) {
  return guarded(
      [&] { need(result, "get_precision", "precision") = static_cast<crisol_precision>(crisol::precision()); });
}

crisol_status crisol_matrix_units(crisol_device device, crisol_precision precision, const char** unit) {
  constexpr const char* op = "matrix_units";
  return guarded([&] {
    const char*& result = need(unit, op, "unit");
    const Device the_device = device_of(device, op);
    const Precision wanted = precision_of(precision, op);
    static std::mutex mutex;
    using Key = std::pair<int, Precision>;
    static std::map<Key, std::string>& texts = *new std::map<Key, std::string>;  // Never freed: callers keep pointers.
    const std::lock_guard lock(mutex);
    const std::string text = ops::matrix_units(the_device, wanted).unit;
    result = texts.try_emplace({the_device.index(), wanted}, text).first->second.c_str();
  });
}
