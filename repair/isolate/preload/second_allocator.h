#pragma once
// Changes the program's allocator when memory becomes common. A converted thread must not run an allocator
// that keeps its lists in free blocks, as the C library's does: on a private page, its view of such a list
// would differ from that of other threads. Therefore a program whose memory is awaited (common_memory.h)
// starts with the allocator that it is linked with, the first one. All threads change to a second one,
// jemalloc, which keeps nothing in blocks, while they are stopped and memory becomes common.
//
// The first allocator is not called after that. A block of the first one that is freed is not used again; the
// pages of a large block go back to the kernel. The address of a block decides to which allocator it belongs
// (earlier_memory.h).

#include <stddef.h>

#include <atomic>
#include <cstdint>

namespace hpcrun {

enum class Heap : uint8_t {
  Own,       // the first one; the program has one thread
  Followed,  // the first one; a thread that is in it finishes its call before it stops
  Second,    // the second one, except for blocks of the first
  Common,    // the program has had the second one from the start
};
extern constinit std::atomic<Heap> heap;

struct SecondAllocator {
  void* (*malloc)(size_t bytes);
  void* (*calloc)(size_t count, size_t each);
  void* (*realloc)(void* at, size_t bytes);
  void (*free)(void* at);
  int (*posix_memalign)(void** out, size_t align, size_t bytes);
  void* (*aligned_alloc)(size_t align, size_t bytes);
  void* (*memalign)(size_t align, size_t bytes);
  void* (*valloc)(size_t bytes);
  size_t (*malloc_usable_size)(void* at);
};
extern constinit SecondAllocator second;

// Must be called as the process begins. `is_awaited`: memory becomes common later. `path`: the library of the
// second allocator, needed only then.
void begin_heap(bool is_awaited, const char* path) noexcept;

// Must be called before the program creates its first thread.
void follow_heap() noexcept;

// Hooks of the controller (CommonHooks).
const char* load_second_allocator() noexcept;
bool change_to_second_allocator() noexcept;

// Marks a call of the first allocator (Heap::Followed). A thread that stood still in such a call would
// continue it after the change, and memory that it maps then would be private.
class CallOfFirst {
 public:
  CallOfFirst() noexcept {
    ++calls_;
    __atomic_signal_fence(__ATOMIC_SEQ_CST);
  }
  ~CallOfFirst() {
    __atomic_signal_fence(__ATOMIC_SEQ_CST);
    if (--calls_ == 0 && stops_after_call_) [[unlikely]]
      stop_after_call();
  }
  CallOfFirst(const CallOfFirst&) = delete;
  CallOfFirst& operator=(const CallOfFirst&) = delete;

  // Called in a handler. Returns true if the thread is in such a call, at the end of which it will
  // stop.
  static bool defer_standstill() noexcept;

 private:
  static void stop_after_call() noexcept;

  static thread_local constinit uint32_t calls_ __attribute__((tls_model("initial-exec")));
  static thread_local constinit bool stops_after_call_ __attribute__((tls_model("initial-exec")));
};

// True if the calling thread is loading the second allocator: what it maps belongs to that.
bool is_loading_second_allocator() noexcept;

// Return the size of a block of the first allocator, free it, and resize it as realloc() does.
size_t bytes_of_earlier(void* at) noexcept;
void free_earlier(void* at) noexcept;
void* resize_earlier(void* at, size_t bytes) noexcept;

}  // namespace hpcrun
