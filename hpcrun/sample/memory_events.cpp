#include "hpcrun/sample/memory_events.h"

#include "hpcrun/guest/descriptors.h"
#include "hpcrun/sample/handler.h"
#include "hpcrun/sample/perf_event.h"

namespace hpcrun {

namespace {

PerfRequest request_of(uint32_t event, int tid) noexcept {
  const EventSpec& spec = process_state.config.events[event];
  PerfRequest request;
  request.type = spec.perf_type;
  request.config = spec.perf_config;
  request.config1 = spec.perf_config1;
  request.config2 = spec.perf_config2;
  request.precise_ip = spec.precise_ip;
  request.exclude_kernel = spec.excludes_kernel;
  request.excludes_nothing = !spec.excludes_kernel;
  request.record_fields = kMemoryRecordFields;
  request.rate = spec.rate;
  request.signal_data = perf_signal_data(event);
  request.tid = tid;
  request.is_spare = true;
  return request;
}

// Returns 0, or a negated errno with nothing left open.
int open_memory_event(EventState& state, uint32_t event, int tid) noexcept {
  const int descriptor = open_perf_event(request_of(event, tid));
  if (descriptor < 0) return descriptor;
  if (const int error = state.records.map(descriptor); error < 0) {
    close_own_descriptor(descriptor);
    return error;
  }
  state.descriptor = descriptor;
  return 0;
}

constexpr char kLacksRecords[] =
    "Contention is missed in some threads: file descriptors (ulimit -n) or perf's memory "
    "(kernel.perf_event_mlock_kb) are too few for memory samples.";

}  // namespace

bool can_record(uint32_t event) noexcept {
  EventState probe;
  if (open_memory_event(probe, event, 0) < 0) return false;
  probe.records.unmap();
  close_own_descriptor(probe.descriptor);
  return true;
}

void arm_memory_event(EventState& state, uint32_t event, int tid) noexcept {
  if (open_memory_event(state, event, tid) == 0) return;
  if (!process_state.lacks_memory_records.exchange(true))
    process_state.file.write_note(kLacksRecords, NoteKind::Contention);
}

}  // namespace hpcrun
