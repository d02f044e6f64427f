// The part of ONNX Runtime's binary interface that the plugin uses: opaque types, and structs of functions in a fixed
// order. No package of Debian 12 has ONNX Runtime's headers, and no wheel has them. The layouts are those of version
// 1.23 (API 23). Later versions only append to the structs, and read no member that `version` does not announce.
#pragma once

#include <cstddef>
#include <cstdint>

struct OrtEpDevice;
struct OrtEpGraphSupportInfo;
struct OrtGraph;
struct OrtHardwareDevice;
struct OrtKernelContext;
struct OrtKeyValuePairs;
struct OrtLogger;
struct OrtMemoryDevice;
struct OrtMemoryInfo;
struct OrtNode;
struct OrtNodeComputeContext;
struct OrtOpAttr;
struct OrtRunOptions;
struct OrtSessionOptions;
struct OrtStatus;
struct OrtSyncStream;
struct OrtSyncStreamImpl;
struct OrtTensorTypeAndShapeInfo;
struct OrtTypeInfo;
struct OrtValue;
struct OrtValueInfo;

#ifdef _WIN32
using PathChar = wchar_t;
#else
using PathChar = char;
#endif

/// Any function of a table.
using OrtFunction = void (*)();

/// The whole table of functions. functions.def names the positions.
struct OrtApi {
  OrtFunction functions[1];
};

struct OrtApiBase {
  const OrtApi* (*GetApi)(std::uint32_t version);
  const char* (*GetVersionString)();
};

/// Settings of a set of nodes that become one node.
struct OrtNodeFusionOptions {
  std::uint32_t version;
  bool drop_constant_initializers;  ///< The provider keeps the constants itself.
};

struct OrtEp;
struct OrtEpFactory;

/// The functions for providers.
struct OrtEpApi {
  OrtStatus* (*CreateEpDevice)(OrtEpFactory* factory, const OrtHardwareDevice* hardware,
                               const OrtKeyValuePairs* metadata, const OrtKeyValuePairs* options, OrtEpDevice** device);
  void (*ReleaseEpDevice)(OrtEpDevice* device);
  OrtStatus* (*EpGraphSupportInfo_AddNodesToFuse)(OrtEpGraphSupportInfo* info, const OrtNode* const* nodes,
                                                  std::size_t count, const OrtNodeFusionOptions* options);
  OrtFunction EpGraphSupportInfo_AddSingleNode, NodeComputeContext_NodeName;
  OrtStatus* (*EpDevice_AddAllocatorInfo)(OrtEpDevice* device, const OrtMemoryInfo* memory);
  OrtFunction MemoryInfo_GetMemoryDevice;
  const OrtMemoryDevice* (*Value_GetMemoryDevice)(const OrtValue* value);
  OrtFunction MemoryDevice_AreEqual;
  int (*MemoryDevice_GetDeviceType)(const OrtMemoryDevice* memory);
  OrtFunction MemoryDevice_GetMemoryType;
  std::uint32_t (*MemoryDevice_GetVendorId)(const OrtMemoryDevice* memory);
};

/// The functions that make parts of models.
struct OrtModelEditorApi {
  OrtFunction CreateTensorTypeInfo, CreateSparseTensorTypeInfo, CreateMapTypeInfo, CreateSequenceTypeInfo,
      CreateOptionalTypeInfo, CreateValueInfo;
  OrtStatus* (*CreateNode)(const char* op, const char* domain, const char* name, const char* const* inputs,
                           std::size_t input_count, const char* const* outputs, std::size_t output_count,
                           OrtOpAttr** attributes, std::size_t attribute_count, OrtNode** node);
};

/// Allocates memory. GetStats and AllocOnStream are optional.
struct OrtAllocator {
  std::uint32_t version;
  void* (*Alloc)(OrtAllocator* self, std::size_t bytes);
  void (*Free)(OrtAllocator* self, void* address);
  const OrtMemoryInfo* (*Info)(const OrtAllocator* self);
  void* (*Reserve)(OrtAllocator* self, std::size_t bytes);
  OrtFunction GetStats, AllocOnStream;
};

/// Copies tensors between two kinds of memory.
struct OrtDataTransferImpl {
  std::uint32_t version;
  void (*Release)(OrtDataTransferImpl* self);
  bool (*CanCopy)(const OrtDataTransferImpl* self, const OrtMemoryDevice* from, const OrtMemoryDevice* to);
  OrtStatus* (*CopyTensors)(OrtDataTransferImpl* self, const OrtValue** from, OrtValue** to, OrtSyncStream** streams,
                            std::size_t count);
};

/// How a set of nodes that became one node is computed.
struct OrtNodeComputeInfo {
  std::uint32_t version;
  OrtStatus* (*CreateState)(OrtNodeComputeInfo* self, OrtNodeComputeContext* context, void** state);
  OrtStatus* (*Compute)(OrtNodeComputeInfo* self, void* state, OrtKernelContext* context);
  void (*ReleaseState)(OrtNodeComputeInfo* self, void* state);
};

/// A provider of one session. Members that are null are optional.
struct OrtEp {
  std::uint32_t version;
  const char* (*GetName)(const OrtEp* self);
  OrtStatus* (*GetCapability)(OrtEp* self, const OrtGraph* graph, OrtEpGraphSupportInfo* info);
  OrtStatus* (*Compile)(OrtEp* self, const OrtGraph** graphs, const OrtNode** fused_nodes, std::size_t count,
                        OrtNodeComputeInfo** computes, OrtNode** context_nodes);
  void (*ReleaseNodeComputeInfos)(OrtEp* self, OrtNodeComputeInfo** computes, std::size_t count);
  OrtFunction GetPreferredDataLayout, ShouldConvertDataLayoutForOp, SetDynamicOptions, OnRunStart, OnRunEnd,
      CreateAllocator, CreateSyncStreamForDevice, GetCompiledModelCompatibilityInfo;
};

/// Makes the providers of sessions.
struct OrtEpFactory {
  std::uint32_t version;
  const char* (*GetName)(const OrtEpFactory* self);
  const char* (*GetVendor)(const OrtEpFactory* self);
  OrtStatus* (*GetSupportedDevices)(OrtEpFactory* self, const OrtHardwareDevice* const* hardware, std::size_t count,
                                    OrtEpDevice** devices, std::size_t most, std::size_t* made);
  OrtStatus* (*CreateEp)(OrtEpFactory* self, const OrtHardwareDevice* const* hardware,
                         const OrtKeyValuePairs* const* metadata, std::size_t count, const OrtSessionOptions* options,
                         const OrtLogger* logger, OrtEp** provider);
  void (*ReleaseEp)(OrtEpFactory* self, OrtEp* provider);
  std::uint32_t (*GetVendorId)(const OrtEpFactory* self);
  const char* (*GetVersion)(const OrtEpFactory* self);
  OrtFunction ValidateCompiledModelCompatibilityInfo;
  OrtStatus* (*CreateAllocator)(OrtEpFactory* self, const OrtMemoryInfo* memory, const OrtKeyValuePairs* options,
                                OrtAllocator** allocator);
  void (*ReleaseAllocator)(OrtEpFactory* self, OrtAllocator* allocator);
  OrtStatus* (*CreateDataTransfer)(OrtEpFactory* self, OrtDataTransferImpl** transfer);
  bool (*IsStreamAware)(const OrtEpFactory* self);
  OrtStatus* (*CreateSyncStreamForDevice)(OrtEpFactory* self, const OrtMemoryDevice* memory,
                                          const OrtKeyValuePairs* options, OrtSyncStreamImpl** stream);
};

namespace crisol::ort {

/// The version of the structs above: ONNX Runtime 1.23.
constexpr std::uint32_t api_version = 23;

/// OrtErrorCode.
constexpr int code_invalid_argument = 2, code_provider_failed = 11;
/// OrtLoggingLevel.
constexpr int level_verbose = 0, level_info = 1, level_warning = 2;
/// OrtHardwareDeviceType.
constexpr int hardware_cpu = 0, hardware_gpu = 1;

/// OrtOpAttrType.
enum class AttributeType : int {
  undefined,
  integer,
  integers,
  real,
  reals,
  text,
  texts,
  graph,
  tensor,
};

}  // namespace crisol::ort
