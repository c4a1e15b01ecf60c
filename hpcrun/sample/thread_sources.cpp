#include "hpcrun/sample/thread_sources.h"

#include "hpcrun/sample/sources.h"
#include "hpcrun/sample/thread_list.h"

namespace hpcrun {

void stop_using_sigtrap() noexcept {
  stop_waiting_for_first_sample();
  if (!is_sampling_here() || !choose_timers_instead_of_sigtrap()) return;
  const ThreadListLock lock;
  for_each_thread(arm_cpu_timer);
}

void use_timer_signal(int signal) noexcept {
  stop_waiting_for_first_sample();
  const ThreadListLock lock;
  process_state.left_timer_signals.fetch_or(uint64_t{1} << (process_state.timer_signal - 1));
  process_state.timer_signal = signal;
  for_each_thread(rearm_timers);
}

void follow_pause() noexcept {
  const ThreadListLock lock;
  const bool paused = process_state.file.pause_switch().is_paused();
  pace_inherited_event(paused);
  for_each_thread([paused](ThreadState& thread) { pace_thread(thread, paused); });
}

}  // namespace hpcrun
