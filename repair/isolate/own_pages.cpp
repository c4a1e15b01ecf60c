#include "repair/isolate/own_pages.h"

namespace hpcrun {

thread_local constinit PrivatePages* own_pages = nullptr;

}  // namespace hpcrun
