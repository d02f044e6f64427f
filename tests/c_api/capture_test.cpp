// The C interface: graphs.
#include "c_api/handle.h"

using namespace crisol::testing::c_api;

namespace {

/// Computes y = x x. The work can also read the values, which no capture allows, or return an error.
struct Work {
  Handle x{{1, 2, 3}, {3}}, y;
  float* read = nullptr;
  crisol_status end = CRISOL_OK;

  static crisol_status run(void* data) {
    Work& work = *static_cast<Work*>(data);
    const crisol_operand operands[] = {{work.x.get(), 0}, {work.x.get(), 0}};
    crisol_status status = crisol_pointwise("mul", 2, operands, 0, nullptr, work.y.place());
    if (status == CRISOL_OK && work.read != nullptr)
      status = crisol_tensor_read(work.y.get(), work.read, 3 * sizeof(float));
    return status == CRISOL_OK ? work.end : status;
  }
};

}  // namespace

TEST_CASE("C: what was captured runs again on new values") {
  Work work;
  crisol_captured_graph* graph = nullptr;
  OK(crisol_capture(here, Work::run, &work, &graph));
  CHECK(values_of(work.y.get()) == Floats{1, 4, 9});
  const Floats more{-1, 0, 4};
  OK(crisol_tensor_write(work.x.get(), more.data(), more.size() * sizeof(float)));
  OK(crisol_captured_graph_replay(graph));
  CHECK(values_of(work.y.get()) == Floats{1, 0, 16});
  crisol_captured_graph_destroy(graph);
  crisol_captured_graph_destroy(nullptr);
}

TEST_CASE("C: work that fails or reads is not captured") {
  Work work;
  crisol_captured_graph* graph = nullptr;
  float values[3];
  work.end = CRISOL_IO;
  CHECK(crisol_capture(here, Work::run, &work, &graph) == CRISOL_IO);
  work.end = CRISOL_OK;
  work.read = values;
  refused(crisol_capture(here, Work::run, &work, &graph), CRISOL_INVALID_ARGUMENT, {"[capture]", "read"});
  CHECK(graph == nullptr);
  refused(crisol_capture(here, nullptr, nullptr, &graph), CRISOL_INVALID_ARGUMENT, {"work is null"});
  refused(crisol_capture(here, Work::run, &work, nullptr), CRISOL_INVALID_ARGUMENT, {"result is null"});
  refused(crisol_captured_graph_replay(nullptr), CRISOL_INVALID_ARGUMENT, {"graph is null"});
  work.read = nullptr;  // The failed graphs leave nothing behind.
  OK(crisol_capture(here, Work::run, &work, &graph));
  crisol_captured_graph_destroy(graph);
}
