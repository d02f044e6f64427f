// Recordings for C.
#include "crisol/recording.h"

#include "c_api/handles.h"

using namespace crisol;
using namespace crisol::c_api;

struct crisol_recording {
  Recording value;
};

namespace {

// The status that the caller's function returned, thrown through record().
struct Failed {
  crisol_status status;
};

}  // namespace

crisol_status crisol_record(crisol_device device, crisol_status (*work)(void* data), void* data,
                            crisol_recording** result) {
  constexpr const char* op = "record";
  crisol_status of_work = CRISOL_OK;
  const crisol_status status = guarded([&] {
    crisol_recording*& place = need(result, op, "result");
    need(work, op, "work");
    try {
      place = new crisol_recording{record(
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

crisol_status crisol_recording_replay(crisol_recording* recording) {
  return guarded([&] { need(recording, "replay", "recording").value.replay(); });
}

void crisol_recording_destroy(crisol_recording* recording) { delete recording; }
