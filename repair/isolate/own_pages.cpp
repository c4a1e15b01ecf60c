#include "repair/isolate/own_pages.h"

namespace hpcrun {

thread_local constinit PrivatePages* own_pages = nullptr;
constinit NeededCommon needed_common;

}  // namespace hpcrun
