#include "hpcrun/sample/thread_timer.h"

#include <signal.h>

#include "hpcrun/sample/handler.h"

namespace hpcrun {

bool start_timer(EventState& state, uint32_t event, clockid_t clock, uint32_t rate, int tid,
                 uint64_t first_ns) noexcept {
  sigevent signal{};
  signal.sigev_notify = SIGEV_THREAD_ID;
  signal.sigev_signo = process_state.timer_signal;
  signal._sigev_un._tid = tid;
  signal.sigev_value.sival_ptr = reinterpret_cast<void*>(perf_signal_data(event));
  if (timer_create(clock, &signal, &state.timer) != 0) return false;
  state.has_timer = true;
  itimerspec interval{};
  interval.it_interval.tv_sec = rate == 1 ? 1 : 0;
  interval.it_interval.tv_nsec = rate == 1 ? 0 : static_cast<long>(1'000'000'000u / rate);
  interval.it_value = interval.it_interval;
  if (first_ns) interval.it_value = {0, static_cast<long>(first_ns)};
  return timer_settime(state.timer, 0, &interval, nullptr) == 0;
}

}  // namespace hpcrun
