// Implements the functions of prof.h, with which the program chooses the parts that are measured.

#include "hpcrun/guest/clock.h"
#include "hpcrun/interpose/next_function.h"
#include "hpcrun/sample/state.h"
#include "hpcrun/sample/thread_sources.h"

using namespace hpcrun;

HPCRUN_EXPORT void hpcrun_start() noexcept {
  stop_waiting_for_first_sample();
  if (is_sampling_here() && process_state.file.pause_switch().resume(monotonic_ns())) follow_pause();
}

HPCRUN_EXPORT void hpcrun_stop() noexcept {
  stop_waiting_for_first_sample();
  if (is_sampling_here() && process_state.file.pause_switch().pause(monotonic_ns())) follow_pause();
}
