// For libraries that are always preloaded, and so in front of the functions that they interpose on.

#include "hpcrun/interpose/next_function.h"

namespace hpcrun {

void* next_scope() noexcept {
  return RTLD_NEXT;
}

}  // namespace hpcrun
