#pragma once
// Changes the phase of a session, by all threads of a process together (session.h). Used by the thread that
// begins or ends the session and by all that take part. Async-signal-safe.

#include "repair/isolate/session/session.h"
#include "repair/isolate/session/wait_word.h"

namespace hpcrun {

// Waits until `turns` differs from `turn`, which must be read before the phase: the phase may have returned
// to the same value meanwhile.
inline void wait_for_change_from(uint32_t turn) noexcept {
  while (session.turns.load(std::memory_order_acquire) == turn) wait_while(session.turns, turn, kLongWaitNs);
}

inline void change_phase(Phase phase) noexcept {
  session.phase.store(phase, std::memory_order_release);
  session.turns.fetch_add(1, std::memory_order_release);
  wake_all(session.turns);
}

// Announces that the thread waits for the next phase.
inline void arrive() noexcept {
  session.arrived.fetch_add(1, std::memory_order_release);
  wake_all(session.arrived);
}

// Counts the calling thread in `among` during the object's lifetime.
class Counted {
 public:
  explicit Counted(std::atomic<uint32_t>& among) noexcept : among_(among) { among_.fetch_add(1); }
  ~Counted() {
    among_.fetch_sub(1);
    wake_all(among_);
  }
  Counted(const Counted&) = delete;
  Counted& operator=(const Counted&) = delete;

 private:
  std::atomic<uint32_t>& among_;
};

inline void await_none(const std::atomic<uint32_t>& among) noexcept {
  for (uint32_t count; (count = among.load()) != 0;) wait_while(among, count, kLongWaitNs);
}

// Installs the handlers of the request signal, in which threads enter and leave, and of SIGSYS.
void install_handlers() noexcept;

}  // namespace hpcrun
