// The C interface: devices, and the OpenCL objects behind them.
#include "c_api/handle.h"
#include "crisol/crisol.h"
#include "crisol/opencl_interop.h"
#include "crisol/ops.h"
#include "support/processes/subprocess.h"

using namespace crisol;
using namespace crisol::testing::c_api;
using crisol::testing::TemporaryFolder;

TEST_CASE("C: devices") {
  CHECK(std::string(crisol_version()) == version());
  std::int32_t count = 0;
  OK(crisol_device_count(&count));
  CHECK(count == static_cast<std::int32_t>(devices().size()));
  crisol_device device = -5;
  OK(crisol_default_device(&device));
  CHECK(device == Device().index());
  const char *name = nullptr, *json = nullptr;
  OK(crisol_device_name(device, &name));
  CHECK(name == Device().name());
  OK(crisol_device_json(here, &json));
  CHECK(json == to_json(Device().info()));
  crisol_device found = -5;
  OK(crisol_device_find(Device().info().platform.c_str(), &found));
  CHECK(found == device);
  OK(crisol_set_default_device(found));
  OK(crisol_synchronize(found));
  crisol_memory_stats stats{};
  OK(crisol_device_memory(found, &stats));
  CHECK(stats.peak == Device().memory_stats().peak);
  OK(crisol_release_cached_memory(found));
  OK(crisol_set_memory_limit(found, stats.in_use + (1 << 20)));
  CHECK_THROWS_AS(empty({1 << 20}), Error);
  OK(crisol_set_memory_limit(found, 0));
  CHECK(empty({1 << 20}).numel() == 1 << 20);
  refused(crisol_set_memory_limit(count, 0), CRISOL_INVALID_ARGUMENT, {"[set_memory_limit]", "device"});
  refused(crisol_device_find("no such device", &found), CRISOL_DEVICE_NOT_FOUND, {"no such device"});
  CHECK(found == device);
  refused(crisol_device_find(nullptr, &found), CRISOL_INVALID_ARGUMENT, {"[device_find]", "spec is null"});
  refused(crisol_device_name(count, &name), CRISOL_INVALID_ARGUMENT, {"[device_name]", "device"});
  refused(crisol_device_name(-2, &name), CRISOL_INVALID_ARGUMENT, {"device -2"});
  refused(crisol_device_count(nullptr), CRISOL_INVALID_ARGUMENT, {"count is null"});
}

TEST_CASE("C: a timeline") {
  const TemporaryFolder folder;
  const std::string path = folder.path() + "/trace.json";
  OK(crisol_trace_start(path.c_str()));
  CHECK(trace::active());
  refused(crisol_trace_start(path.c_str()), CRISOL_INVALID_ARGUMENT, {"[trace]", path.c_str()});
  OK(crisol_trace_stop());
  CHECK_FALSE(trace::active());
  OK(crisol_trace_stop());
  refused(crisol_trace_start((folder.path() + "/no/file").c_str()), CRISOL_IO, {"[trace] cannot write"});
  refused(crisol_trace_start(nullptr), CRISOL_INVALID_ARGUMENT, {"path is null"});
}

TEST_CASE("C: the precision of products") {
  crisol_precision precision = -5;
  OK(crisol_get_precision(&precision));
  CHECK(precision == CRISOL_PRECISION_FP32);
  OK(crisol_set_precision(CRISOL_PRECISION_BF16));
  CHECK(crisol::precision() == Precision::bf16);
  OK(crisol_get_precision(&precision));
  CHECK(precision == CRISOL_PRECISION_BF16);
  OK(crisol_set_precision(CRISOL_PRECISION_FP32));
  const char* unit = nullptr;
  OK(crisol_matrix_units(here, CRISOL_PRECISION_FP16, &unit));
  CHECK(unit == ops::matrix_units(Device(), Precision::fp16).unit);
  refused(crisol_set_precision(4), CRISOL_INVALID_ARGUMENT, {"[set_precision]", "precision 4"});
  refused(crisol_set_precision(-1), CRISOL_INVALID_ARGUMENT, {"precision -1"});
  refused(crisol_get_precision(nullptr), CRISOL_INVALID_ARGUMENT, {"precision is null"});
  refused(crisol_matrix_units(here, CRISOL_PRECISION_FP16, nullptr), CRISOL_INVALID_ARGUMENT, {"unit is null"});
}

TEST_CASE("C: OpenCL's objects") {
  void *context = nullptr, *queue = nullptr, *memory = nullptr;
  OK(crisol_opencl_context(here, &context));
  OK(crisol_opencl_queue(here, &queue));
  CHECK(context == opencl_context(Device()));
  CHECK(queue == opencl_queue(Device()));
  Handle x({1, 2, 3, 4}, {4}), part, view;
  OK(crisol_narrow(x.get(), 0, 1, 2, part.place()));
  std::size_t offset = 0;
  OK(crisol_tensor_opencl(part.get(), &memory, &offset));
  const std::int64_t two = 2;
  OK(crisol_tensor_from_opencl(here, memory, offset, CRISOL_F32, 1, &two, view.place()));
  CHECK(values_of(view.get()) == Floats{2, 3});
  OK(crisol_tensor_written(view.get()));
  refused(crisol_tensor_from_opencl(here, nullptr, 0, CRISOL_F32, 1, &two, view.place()), CRISOL_INVALID_ARGUMENT,
          {"[from_opencl]", "null"});
  alignas(64) static Floats host{5, 6};
  Handle own;
  OK(crisol_tensor_from_host_memory(here, CRISOL_F32, 1, &two, host.data(), own.place()));
  if (own.get() == nullptr)
    CHECK(!Device().info().unified_memory);
  else
    CHECK(values_of(own.get()) == host);
  refused(crisol_tensor_from_host_memory(here, CRISOL_F32, 1, &two, nullptr, own.place()), CRISOL_INVALID_ARGUMENT,
          {"[from_host_memory]", "null"});
  crisol_device device = -5;
  refused(crisol_device_from_opencl(nullptr, context, queue, &device), CRISOL_INVALID_ARGUMENT, {"[adopt_opencl]"});
}
