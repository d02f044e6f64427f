// A classifier in ONNX Runtime's own C interface, on the device that CRISOL_DEVICE names or on the best one.
//
//   classify MODEL LIBRARY [PICTURE]
//
// MODEL is an ONNX file with one input (1, channels, height, width), LIBRARY is libcrisol_ort.so, and PICTURE is a file
// of floats of that shape (zeros if it is left out). Prints the device, and the five largest outputs. Build it with the
// CMakeLists.txt beside it: it needs the headers and the library of ONNX Runtime 1.23 or newer, and nothing of crisol.
#include <onnxruntime_c_api.h>

#include <algorithm>
#include <cstdio>
#include <cstring>
#include <filesystem>
#include <fstream>
#include <memory>
#include <numeric>
#include <stdexcept>
#include <string>
#include <vector>

namespace {

constexpr const char* provider = "CrisolExecutionProvider";
const OrtApi& api = *OrtGetApiBase()->GetApi(ORT_API_VERSION < 23 ? ORT_API_VERSION : 23);

void check(OrtStatus* status) {
  if (status == nullptr) return;
  const std::runtime_error error(api.GetErrorMessage(status));
  api.ReleaseStatus(status);
  throw error;
}

template <class T>
using Owned = std::unique_ptr<T, void (*)(T*)>;

std::size_t count_of(const std::vector<int64_t>& shape) {
  return std::accumulate(shape.begin(), shape.end(), std::size_t{1},
                         [](std::size_t a, int64_t b) { return a * static_cast<std::size_t>(b); });
}

std::vector<int64_t> shape_of(const OrtTensorTypeAndShapeInfo* info) {
  std::size_t axes = 0;
  check(api.GetDimensionsCount(info, &axes));
  std::vector<int64_t> shape(axes);
  check(api.GetDimensions(info, shape.data(), axes));
  return shape;
}

/// The first device of the provider.
const OrtEpDevice* first_device(OrtEnv* env) {
  const OrtEpDevice* const* all = nullptr;
  std::size_t count = 0;
  check(api.GetEpDevices(env, &all, &count));
  const auto* const end = all + count;
  const auto* const own = std::find_if(
      all, end, [](const OrtEpDevice* device) { return std::strcmp(api.EpDevice_EpName(device), provider) == 0; });
  if (own == end) throw std::runtime_error("crisol finds no OpenCL device");
  return *own;
}

/// The shape of the model's first input. Sizes that the model leaves open become 1.
std::vector<int64_t> input_shape(const OrtSession* session) {
  OrtTypeInfo* type = nullptr;
  check(api.SessionGetInputTypeInfo(session, 0, &type));
  const Owned<OrtTypeInfo> owned(type, api.ReleaseTypeInfo);
  const OrtTensorTypeAndShapeInfo* tensor = nullptr;
  check(api.CastTypeInfoToTensorInfo(type, &tensor));
  if (tensor == nullptr) throw std::runtime_error("the model's input is no tensor");
  std::vector<int64_t> shape = shape_of(tensor);
  for (int64_t& size : shape) size = std::max<int64_t>(size, 1);
  return shape;
}

void run(const std::filesystem::path& model, const std::filesystem::path& library, const char* picture) {
  OrtEnv* env = nullptr;
  check(api.CreateEnv(ORT_LOGGING_LEVEL_WARNING, "classify", &env));
  const Owned<OrtEnv> owned_env(env, api.ReleaseEnv);
  check(api.RegisterExecutionProviderLibrary(env, provider, std::filesystem::absolute(library).c_str()));
  const OrtEpDevice* device = first_device(env);
  std::printf("%s\n", api.GetKeyValue(api.EpDevice_EpMetadata(device), "device"));

  OrtSessionOptions* options = nullptr;
  check(api.CreateSessionOptions(&options));
  const Owned<OrtSessionOptions> owned_options(options, api.ReleaseSessionOptions);
  check(api.SessionOptionsAppendExecutionProvider_V2(options, env, &device, 1, nullptr, nullptr, 0));
  OrtSession* session = nullptr;
  check(api.CreateSession(env, model.c_str(), options, &session));
  const Owned<OrtSession> owned_session(session, api.ReleaseSession);

  const std::vector<int64_t> shape = input_shape(session);
  std::vector<float> pixels(count_of(shape));
  const std::size_t bytes = pixels.size() * sizeof(float);
  if (picture != nullptr &&
      !std::ifstream(picture, std::ios::binary).read(reinterpret_cast<char*>(pixels.data()), std::streamsize(bytes)))
    throw std::runtime_error(std::string(picture) + ": " + std::to_string(pixels.size()) + " floats are expected");
  OrtMemoryInfo* memory = nullptr;
  check(api.CreateCpuMemoryInfo(OrtArenaAllocator, OrtMemTypeDefault, &memory));
  const Owned<OrtMemoryInfo> owned_memory(memory, api.ReleaseMemoryInfo);
  OrtValue* input = nullptr;
  check(api.CreateTensorWithDataAsOrtValue(memory, pixels.data(), bytes, shape.data(), shape.size(),
                                           ONNX_TENSOR_ELEMENT_DATA_TYPE_FLOAT, &input));
  const Owned<OrtValue> owned_input(input, api.ReleaseValue);

  OrtAllocator* allocator = nullptr;
  check(api.GetAllocatorWithDefaultOptions(&allocator));
  char *input_name = nullptr, *output_name = nullptr;
  check(api.SessionGetInputName(session, 0, allocator, &input_name));
  check(api.SessionGetOutputName(session, 0, allocator, &output_name));
  OrtValue* output = nullptr;
  OrtStatus* const status = api.Run(session, nullptr, &input_name, &input, 1, &output_name, 1, &output);
  allocator->Free(allocator, input_name);
  allocator->Free(allocator, output_name);
  check(status);
  const Owned<OrtValue> owned_output(output, api.ReleaseValue);

  OrtTensorTypeAndShapeInfo* info = nullptr;
  check(api.GetTensorTypeAndShape(output, &info));
  const std::size_t count = count_of(shape_of(info));
  api.ReleaseTensorTypeAndShapeInfo(info);
  float* scores = nullptr;
  check(api.GetTensorMutableData(output, reinterpret_cast<void**>(&scores)));
  std::vector<std::size_t> order(count);
  std::iota(order.begin(), order.end(), std::size_t{0});
  const auto best = order.begin() + std::min<std::ptrdiff_t>(5, std::ptrdiff_t(count));
  std::partial_sort(order.begin(), best, order.end(), [&](auto a, auto b) { return scores[a] > scores[b]; });
  for (auto i = order.begin(); i != best; ++i) std::printf("class %zu: %.4f\n", *i, double(scores[*i]));
}

}  // namespace

int main(int argc, char** argv) {
  if (argc < 3) {
    std::fprintf(stderr, "usage: classify MODEL LIBRARY [PICTURE]\n");
    return 2;
  }
  try {
    run(argv[1], argv[2], argc > 3 ? argv[3] : nullptr);
    return 0;
  } catch (const std::exception& error) {
    std::fprintf(stderr, "classify: %s\n", error.what());
    return 1;
  }
}
