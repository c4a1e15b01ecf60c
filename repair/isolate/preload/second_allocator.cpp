#include "repair/isolate/preload/second_allocator.h"

#include <dlfcn.h>
#include <errno.h>
#include <malloc.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>

#include <algorithm>

#include "hpcrun/guest/syscalls.h"
#include "hpcrun/interpose/next_function.h"
#include "repair/isolate/contract/pages.h"
#include "repair/isolate/memory/common_memory.h"
#include "repair/isolate/memory/common_state.h"
#include "repair/isolate/memory/earlier_memory.h"
#include "repair/isolate/memory/memory_left.h"
#include "repair/isolate/session/session.h"

namespace hpcrun {

constinit std::atomic<Heap> heap{Heap::Own};
constinit SecondAllocator second{};

namespace {

HPCRUN_NEXT_OF(malloc);
HPCRUN_NEXT_OF(malloc_usable_size);

constexpr char kNotLoaded[] = "jemalloc, the allocator for converted threads, cannot be loaded";
constexpr char kNoMemory[] =
    "the machine has less free memory than the program uses, which is needed because freed blocks are not "
    "reused";
constexpr char kSizeless[] = "the program's allocator does not report block sizes (malloc_usable_size)";

constinit char library[4096] = {};  // its path
constinit std::atomic<int> loading_thread{0};

// Smaller blocks are not worth the system calls, for which all threads may have to come home.
constexpr size_t kMinGivenBack = 128 * 1024;

void* base_of(void* function) noexcept {
  Dl_info info;
  return dladdr(function, &info) ? info.dli_fbase : nullptr;
}

template <typename Function>
Function* find(void* handle, const char* name) noexcept {
  return reinterpret_cast<Function*>(dlsym(handle, name));
}

SecondAllocator find_all(void* handle) noexcept {
  return {.malloc = find<decltype(::malloc)>(handle, "malloc"),
          .calloc = find<decltype(::calloc)>(handle, "calloc"),
          .realloc = find<decltype(::realloc)>(handle, "realloc"),
          .free = find<decltype(::free)>(handle, "free"),
          .posix_memalign = find<decltype(::posix_memalign)>(handle, "posix_memalign"),
          .aligned_alloc = find<decltype(::aligned_alloc)>(handle, "aligned_alloc"),
          .memalign = find<decltype(::memalign)>(handle, "memalign"),
          .valloc = find<decltype(::valloc)>(handle, "valloc"),
          .malloc_usable_size = find<decltype(::malloc_usable_size)>(handle, "malloc_usable_size")};
}

bool is_whole(const SecondAllocator& all) noexcept {
  return all.malloc && all.calloc && all.realloc && all.free && all.posix_memalign && all.aligned_alloc &&
         all.memalign && all.valloc && all.malloc_usable_size;
}

// Memory from the break would lie among blocks of the first allocator.
void have_it_map_all_memory(void* handle) noexcept {
  auto* const control = find<int(const char*, void*, size_t*, void*, size_t)>(handle, "mallctl");
  if (!control) return;
  const char* disabled = "disabled";
  control("arena.4096.dss", nullptr, nullptr, &disabled, sizeof disabled);  // all arenas
}

bool load() noexcept {
  loading_thread.store(sys_gettid());
  void* const handle = *library ? dlopen(library, RTLD_NOW | RTLD_LOCAL) : nullptr;
  const SecondAllocator found = handle ? find_all(handle) : SecondAllocator{};
  const bool is_found = is_whole(found);
  if (is_found) {
    found.free(found.malloc(1));
    have_it_map_all_memory(handle);
    second = found;
  } else {
    dlerror();  // the program must not receive our failure
  }
  loading_thread.store(0);
  return is_found;
}

void give_back(char* low, char* high) noexcept {
  low = reinterpret_cast<char*>(page_up(reinterpret_cast<uint64_t>(low)));
  high = reinterpret_cast<char*>(page_down(reinterpret_cast<uint64_t>(high)));
  if (high < low + kMinGivenBack) return;
  const int error = errno;
  madvise(low, static_cast<size_t>(high - low), MADV_DONTNEED);
  errno = error;
}

}  // namespace

void begin_heap(bool is_awaited, const char* path) noexcept {
  if (!is_awaited) return heap.store(Heap::Common);
  if (path && strlen(path) < sizeof library) strcpy(library, path);
}

void follow_heap() noexcept {
  Heap own = Heap::Own;
  if (is_common_awaited()) heap.compare_exchange_strong(own, Heap::Followed);
}

const char* load_second_allocator() noexcept {
  if (second.malloc || heap.load() == Heap::Common) return nullptr;
  void* const first = hpcrun_next_malloc.get();
  if (!first || base_of(first) != base_of(hpcrun_next_malloc_usable_size.get())) return kSizeless;
  if (!has_memory_for_twice()) return kNoMemory;
  if (!load()) return kNotLoaded;
  if (reinterpret_cast<void*>(second.malloc) == first) heap.store(Heap::Common);
  return nullptr;
}

bool change_to_second_allocator() noexcept {
  const Heap now = heap.load();
  if (now == Heap::Second || now == Heap::Common) return true;
  if (!second.malloc || !begin_earlier_memory(common_state.hold.low, common_state.hold.reservation_high))
    return false;
  heap.store(Heap::Second);
  return true;
}

thread_local constinit uint32_t CallOfFirst::calls_ = 0;
thread_local constinit bool CallOfFirst::stops_after_call_ = false;

bool CallOfFirst::defer_standstill() noexcept {
  return stops_after_call_ = calls_ > 0;
}

void CallOfFirst::stop_after_call() noexcept {
  stops_after_call_ = false;
  stop_now();
}

bool is_loading_second_allocator() noexcept {
  const int thread = loading_thread.load(std::memory_order_relaxed);
  return thread && thread == sys_gettid();
}

size_t bytes_of_earlier(void* at) noexcept {
  return HPCRUN_NEXT(malloc_usable_size)(at);
}

void free_earlier(void* at) noexcept {
  char* const low = static_cast<char*>(at);
  give_back(low, low + bytes_of_earlier(at));
}

void* resize_earlier(void* at, size_t bytes) noexcept {
  if (!bytes) {
    free_earlier(at);
    return nullptr;
  }
  const size_t has = bytes_of_earlier(at);
  if (bytes <= has) {
    give_back(static_cast<char*>(at) + bytes, static_cast<char*>(at) + has);
    return at;
  }
  void* const to = second.malloc(bytes);
  if (!to) return nullptr;
  memcpy(to, at, has);
  free_earlier(at);
  return to;
}

}  // namespace hpcrun
