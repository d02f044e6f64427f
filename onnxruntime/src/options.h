// The settings of a session for the provider.
#pragma once

#include <string>

#include "api.h"
#include "crisol/device.h"
#include "crisol/precision.h"

namespace crisol::ort {

/// The name of the provider in ONNX Runtime.
constexpr const char* provider_name = "CrisolExecutionProvider";
/// The key of a provider device's metadata that has the index of its OpenCL device.
constexpr const char* device_key = "device_id";

/// Whether and where a session stores its model with EPContext nodes.
struct ContextOptions {
  bool is_stored = false;
  bool has_embedded_data = false;  ///< The nodes hold their data. Otherwise they name files.
  std::string path;                ///< Of the model to store, or of the stored model that is loaded. May be empty.
};

struct Options {
  Device device;
  Precision precision = Precision::fp32;
  ContextOptions context = {};
};

/// Reads the options of a session. `chosen` is the index of the OpenCL device whose provider device the session was
/// given, and the option "device_id" may name another one. Throws RuntimeError for unknown values.
Options options_of(const OrtSessionOptions* session, const std::string& chosen);

}  // namespace crisol::ort
