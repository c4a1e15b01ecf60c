// Composes the runtime: the one place that names all kinds of waste and all repairs.

#include "hpcrun/process/kinds.h"

#include <iterator>

#include "hpcrun/contention/observer.h"
#include "hpcrun/device/life.h"
#include "hpcrun/heap/heap.h"
#include "hpcrun/memory_waste/observer.h"
#include "hpcrun/sync/observer.h"
#include "repair/isolate/runtime/isolating.h"
#include "repair/layout/placing.h"
#include "repair/locks/runtime/lock_moves.h"

namespace hpcrun {

// Isolation comes first, because others ask whether it is on. The heap comes before what places allocations
// and after what needs to know them, and locks are followed before they are moved.
constexpr const Hooks* const kKinds[] = {&kIsolationHooks, &kContentionHooks, &kMemoryWasteHooks,
                                         &kHeapHooks,      &kLayoutHooks,     &kSyncHooks,
                                         &kLockMoveHooks,  &kDeviceHooks};
constexpr uint32_t kKindCount = std::size(kKinds);
static_assert(kKindCount <= kMaxKinds);

}  // namespace hpcrun
