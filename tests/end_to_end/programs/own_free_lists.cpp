// An allocator that a program is linked with. It keeps the links of its free lists in the free blocks,
// protected by a lock. A block's size is a power of two, and its address a multiple of that.

#include <errno.h>
#include <pthread.h>

#include <bit>
#include <cstddef>
#include <cstdint>
#include <cstring>

namespace {

constexpr size_t kCapacity = size_t{256} << 20, kMinBytes = 16, kMaxBytes = size_t{4} << 20;

struct FreeBlock {
  FreeBlock* next;
};

pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
alignas(kMaxBytes) unsigned char memory[kCapacity];
uint8_t exponents[kCapacity / kMinBytes];  // of a block's size, by its address
size_t used = 0;
FreeBlock* free_blocks[64];

size_t bytes_of(void* at) {
  return size_t{1} << exponents[static_cast<size_t>(static_cast<unsigned char*>(at) - memory) / kMinBytes];
}

void* take_unused(size_t bytes) {
  const size_t at = (used + bytes - 1) / bytes * bytes;
  if (at + bytes > kCapacity) return nullptr;
  used = at + bytes;
  exponents[at / kMinBytes] = static_cast<uint8_t>(std::countr_zero(bytes));
  return memory + at;
}

void* take(size_t wanted, size_t align) {
  const size_t bytes = std::bit_ceil(wanted < align ? align : wanted);
  if (bytes > kMaxBytes) return nullptr;
  FreeBlock*& first = free_blocks[std::countr_zero(bytes)];
  pthread_mutex_lock(&lock);
  void* const at = first ? first : take_unused(bytes);
  if (first) first = first->next;
  pthread_mutex_unlock(&lock);
  return at;
}

}  // namespace

extern "C" {

void* malloc(size_t bytes) {
  return take(bytes, kMinBytes);
}

void free(void* at) {
  if (!at) return;
  auto* const block = static_cast<FreeBlock*>(at);
  FreeBlock*& first = free_blocks[std::countr_zero(bytes_of(at))];
  pthread_mutex_lock(&lock);
  block->next = first;
  first = block;
  pthread_mutex_unlock(&lock);
}

void* calloc(size_t count, size_t each) {
  void* const at = malloc(count * each);
  return at ? memset(at, 0, count * each) : nullptr;
}

void* realloc(void* at, size_t bytes) {
  if (!at) return malloc(bytes);
  const size_t has = bytes_of(at);
  if (bytes <= has) return at;
  void* const to = malloc(bytes);
  if (!to) return nullptr;
  memcpy(to, at, has);
  free(at);
  return to;
}

void* memalign(size_t align, size_t bytes) {
  return take(bytes, align < kMinBytes ? kMinBytes : align);
}

void* aligned_alloc(size_t align, size_t bytes) {
  return memalign(align, bytes);
}

int posix_memalign(void** out, size_t align, size_t bytes) {
  *out = memalign(align, bytes);
  return *out ? 0 : ENOMEM;
}

size_t malloc_usable_size(void* at) {
  return at ? bytes_of(at) : 0;
}

}  // extern "C"
