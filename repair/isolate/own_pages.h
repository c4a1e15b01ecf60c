#pragma once
// The private pages of the calling thread, where it is a twin that has any.

#include "repair/isolate/private_pages.h"

namespace hpcrun {

// Set and cleared by the twin itself. nullptr: all its memory is common.
extern thread_local constinit PrivatePages* own_pages __attribute__((tls_model("initial-exec")));

// What the thread wrote is seen by others that do the same later, and what others wrote before is seen by it.
// Keeps errno. Async-signal-safe.
inline void commit_own_pages() noexcept {
  if (PrivatePages* const pages = own_pages) [[unlikely]]
    pages->commit();
}

}  // namespace hpcrun
