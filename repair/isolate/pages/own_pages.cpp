#include "repair/isolate/pages/own_pages.h"

namespace hpcrun {

thread_local constinit PrivatePages* own_pages = nullptr;
thread_local constinit uint32_t open_regions = 0;
thread_local constinit bool asked_in_region = false;
constinit std::atomic<const ptrdiff_t*> direct_calls_at{nullptr};
constinit NeededCommon needed_common;

}  // namespace hpcrun
