// ONNX files.
#include "crisol/onnx.h"

#include "base/per_thread.h"
#include "c_api/handles.h"

using namespace crisol;
using namespace crisol::c_api;

namespace {

/// The text of the last crisol_onnx_info in this thread.
struct LastInfo {
  std::string json;
};

}  // namespace

crisol_status crisol_onnx_info(const char* path, const char** json) {
  constexpr const char* op = "onnx_info";
  return guarded([&] {
    need(path, op, "path");
    const char*& place = need(json, op, "json");
    std::string& text = per_thread<LastInfo>().json;
    text = onnx::to_json(onnx::read_info(path));
    place = text.c_str();
  });
}
