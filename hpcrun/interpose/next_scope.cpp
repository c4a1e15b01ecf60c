// The runtime's own: it may be loaded into a running process.

#include "hpcrun/interpose/next_function.h"
#include "hpcrun/interpose/redirection.h"

namespace hpcrun {

void* next_scope() noexcept {
  return is_loaded_late() ? RTLD_DEFAULT : RTLD_NEXT;
}

}  // namespace hpcrun
