#pragma once
// A twin must not run an allocator that keeps what it knows in the blocks that are free, as the C library's
// does: on a page of the twin's own it would see something else than others do. So a program whose memory is
// to be common some day (common_memory.h) has the allocator that it is linked with until then, and a second
// one afterwards, which keeps nothing in blocks (jemalloc): all threads change over while they stand still
// and memory becomes common.
//
// From then on the first one runs no more. A block of its that is released is nobody's; of large ones the
// pages go back to the kernel. Whose a block is its address tells (earlier_memory.h).

#include <stddef.h>

#include <atomic>
#include <cstdint>

namespace hpcrun {

enum class Heap : uint8_t {
  Own,       // the program's allocator, and nobody has to know who is in it
  Followed,  // a thread that is in it leaves it before it stands still
  Second,    // the second one, but for blocks of the first
  Common,    // the allocator behind this library keeps nothing in blocks: it is the second one
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

// As the process begins. `is_awaited`: memory becomes common later; `path`: of the second allocator then.
void begin_heap(bool is_awaited, const char* path) noexcept;

// Before the program makes its first thread.
void follow_heap() noexcept;

// The hooks of the controller (CommonHooks).
const char* load_second_allocator() noexcept;
bool change_to_second_allocator() noexcept;
bool ends_call_of_first_allocator() noexcept;

// A call of the first allocator, while who is in it is followed. Threads that stood still there would go on
// in it when the second one is in use, and what it mapped then would be private.
class CallOfFirst {
 public:
  CallOfFirst() noexcept {
    ++calls_;
    __atomic_signal_fence(__ATOMIC_SEQ_CST);
  }
  ~CallOfFirst() {
    __atomic_signal_fence(__ATOMIC_SEQ_CST);
    if (--calls_ == 0 && is_to_stand_still_) [[unlikely]]
      stand_still_after();
  }
  CallOfFirst(const CallOfFirst&) = delete;
  CallOfFirst& operator=(const CallOfFirst&) = delete;

  // In a handler: whether the thread is in one, and stands still at its end.
  static bool is_to_end_first() noexcept;

 private:
  static void stand_still_after() noexcept;

  static thread_local constinit uint32_t calls_ __attribute__((tls_model("initial-exec")));
  static thread_local constinit bool is_to_stand_still_ __attribute__((tls_model("initial-exec")));
};

// Whether the calling thread is loading it: what it maps meanwhile is the second allocator's.
bool is_loading_second_allocator() noexcept;

// A block of the first allocator: its size, and its end.
size_t bytes_of_earlier(void* at) noexcept;
void drop_earlier(void* at) noexcept;
void* resize_earlier(void* at, size_t bytes) noexcept;

}  // namespace hpcrun
