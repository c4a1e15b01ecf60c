#include "repair/isolate/session/program_actions.h"

#include <errno.h>

#include <cstring>

#include "hpcrun/guest/safe_load.h"
#include "repair/isolate/session/session.h"

namespace hpcrun {

namespace {

constexpr int kSignals = 64;

// Per signal, those of our bits that the program has in its action's mask.
constinit uint64_t hidden_bits[kSignals + 1];
// The program's actions for our signals during the session. If two threads change the same one at once, one
// of the changes wins.
constinit KernelAction own_actions[kSignals + 1];

bool is_own(int signal) noexcept {
  return own_signal_bits() & signal_bit(signal);
}

// Returns what the mask of a signal's action must not block.
uint64_t unblocked_by(int signal) noexcept {
  const bool may_wait = session.sample_signals & signal_bit(signal);
  return may_wait ? signal_bit(SIGSYS) : own_signal_bits();
}

bool are_same(const KernelAction& a, const KernelAction& b) noexcept {
  return a.handler == b.handler && a.flags == b.flags && a.restorer == b.restorer && a.mask == b.mask;
}

bool has_handler(const KernelAction& action) noexcept {
  return action.handler != reinterpret_cast<void*>(SIG_DFL) &&
         action.handler != reinterpret_cast<void*>(SIG_IGN);
}

// Other threads may change actions meanwhile by calls that are not trapped yet. Their changes stay.
template <typename Change>
void change_mask(int signal, Change change) noexcept {
  KernelAction action, before;
  if (kernel_action(signal, nullptr, &action) < 0) return;
  KernelAction expected = action;
  for (bool is_written = false;; is_written = true) {
    KernelAction changed = action;
    change(changed);
    if (!has_handler(action)) changed = action;
    if (!is_written && changed.mask == action.mask) return;
    if (kernel_action(signal, &changed, &before) < 0 || are_same(before, expected)) return;
    expected = changed;
    action = before;  // another thread's, which was overwritten
  }
}

}  // namespace

bool write_to_program(void* to, const void* from, size_t bytes) noexcept {
  const struct {
    const void* base;
    size_t bytes;
  } source{from, bytes}, target{to, bytes};
  const long written = raw_syscall(SYS_process_vm_writev, sys_getpid(), reinterpret_cast<long>(&source), 1,
                                   reinterpret_cast<long>(&target), 1, 0);
  if (written != -ENOSYS && written != -EPERM) return written == static_cast<long>(bytes);
  memcpy(to, from, bytes);  // if that call is not permitted
  return true;
}

void hide_own_signals() noexcept {
  for (int signal = 1; signal <= kSignals; ++signal)
    change_mask(signal, [signal](KernelAction& action) {
      if (is_own(signal)) own_actions[signal] = action;
      hidden_bits[signal] = action.mask & unblocked_by(signal);
      if (!is_own(signal)) action.mask &= ~hidden_bits[signal];
    });
}

void show_own_signals() noexcept {
  for (int signal = 1; signal <= kSignals; ++signal) {
    // A request may still be pending, and its default action would end the program.
    if (!is_own(signal))
      change_mask(signal, [signal](KernelAction& action) { action.mask |= hidden_bits[signal]; });
    else if (signal == SIGSYS)
      kernel_action(signal, &own_actions[signal], nullptr);
  }
}

long change_action(int signal, const void* action, void* before, size_t mask_bytes) noexcept {
  if (mask_bytes != sizeof(uint64_t) || signal < 1 || signal > kSignals) return -EINVAL;
  KernelAction wanted;
  KernelAction old;
  if (action && !safe_read(reinterpret_cast<uint64_t>(action), &wanted, sizeof wanted)) return -EFAULT;
  if (is_own(signal)) {
    old = own_actions[signal];
    if (action) own_actions[signal] = wanted;
  } else {
    const uint64_t hidden = wanted.mask & unblocked_by(signal);
    wanted.mask &= ~hidden;
    const long error = kernel_action(signal, action ? &wanted : nullptr, &old);
    if (error < 0) return error;
    old.mask |= hidden_bits[signal];
    if (action) hidden_bits[signal] = hidden;
  }
  return before && !write_to_program(before, &old, sizeof old) ? -EFAULT : 0;
}

KernelAction action_of_own_signal(int signal) noexcept {
  return own_actions[signal];
}

bool is_ignored(int signal) noexcept {
  KernelAction action;
  if (kernel_action(signal, nullptr, &action) < 0) return false;
  if (action.handler == reinterpret_cast<void*>(SIG_IGN)) return true;
  constexpr uint64_t kNothingByDefault =
      signal_bit(SIGCHLD) | signal_bit(SIGURG) | signal_bit(SIGWINCH) | signal_bit(SIGCONT);
  return action.handler == reinterpret_cast<void*>(SIG_DFL) && (signal_bit(signal) & kNothingByDefault);
}

bool has_default_action(int signal) noexcept {
  KernelAction action;
  return kernel_action(signal, nullptr, &action) == 0 && action.handler == reinterpret_cast<void*>(SIG_DFL);
}

}  // namespace hpcrun
