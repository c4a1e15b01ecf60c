#pragma once
// Decides whether locks may be moved to lines of their own (repair/locks), and at which lines, and records
// the results.

#include "hpcrun/hooks.h"

namespace hpcrun {

extern const Hooks kLockMoveHooks;

}  // namespace hpcrun
