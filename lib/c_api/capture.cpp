// Captured graphs for C.
#include "crisol/capture.h"

#include "c_api/handles.h"

using namespace crisol;
using namespace crisol::c_api;

struct crisol_captured_graph {
  CapturedGraph value;
};

namespace {

// Carries the status that the caller's function returned through capture(), as an exception.
struct Failed {
  crisol_status status;
};

}  // namespace

crisol_status crisol_capture(crisol_device device, crisol_status (*work)(void* data), void* data,
                             crisol_captured_graph** result) {
  constexpr const char* op = "capture";
  crisol_status of_work = CRISOL_OK;
  const crisol_status status = guarded([&] {
    crisol_captured_graph*& place = need(result, op, "result");
    need(work, op, "work");
    try {
      place = new crisol_captured_graph{capture(
          [&] {
            if (const crisol_status failure = work(data); failure != CRISOL_OK) throw Failed{failure};
          },
          device_of(device, op))};
    } catch (const Failed& failed) {
      of_work = failed.status;
    }
  });
  return of_work == CRISOL_OK ? status : of_work;
}

crisol_status crisol_captured_graph_replay(crisol_captured_graph* graph) {
  return guarded([&] { need(graph, "replay", "graph").value.replay(); });
}

void crisol_captured_graph_destroy(crisol_captured_graph* graph) { delete graph; }
