// ONNX files.
#include "crisol/onnx.h"

#include "c_api/handles.h"

using namespace crisol;
using namespace crisol::c_api;

crisol_status crisol_onnx_info(const char* path, const char** json) {
  constexpr const char* op = "onnx_info";
  return guarded([&] {
    need(path, op, "path");
    const char*& place = need(json, op, "json");
    thread_local std::string text;
    text = onnx::to_json(onnx::read_info(path));
    place = text.c_str();
  });
}
