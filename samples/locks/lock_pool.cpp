// False sharing of locks: reference counts are guarded by a pool of locks, as in Boost without atomics (its
// spinlock pool with pthreads). An object's address selects its lock. Two threads count for objects of their
// own and never wait for each other, but their locks lie in one cache line. lock_pool_fixed gives each lock a
// line of its own.

#include <pthread.h>

#include "../contention/team.h"

#ifdef FIXED
struct alignas(64) Lock {
#else
struct Lock {
#endif
  pthread_mutex_t mutex = PTHREAD_MUTEX_INITIALIZER;
};

constexpr size_t kLocks = 41;

alignas(64) Lock pool[kLocks];

struct alignas(64) Object {
  uint64_t references;
};

// Neighbours in memory have adjacent locks in the pool.
pthread_mutex_t* lock_of(const Object* object) {
  return &pool[reinterpret_cast<uintptr_t>(object) / sizeof(Object) % kLocks].mutex;
}

void add_reference(Object* object) {
  pthread_mutex_lock(lock_of(object));
  ++object->references;
  pthread_mutex_unlock(lock_of(object));
}

void release(Object* object) {
  pthread_mutex_lock(lock_of(object));
  --object->references;
  pthread_mutex_unlock(lock_of(object));
}

[[gnu::noinline]] void copy_first(Object* object, uint64_t steps) {
  while (steps--) {
    add_reference(object);
    if (steps % 2) release(object);
  }
}

[[gnu::noinline]] void copy_second(Object* object, uint64_t steps) {
  while (steps--) {
    add_reference(object);
    if (steps % 2) release(object);
  }
}

int main(int argc, char** argv) {
  const uint64_t steps = team::steps(argc, argv, 10);
  static Object objects[kLocks + 1];
  // Uses the first lock of the pool and its neighbour.
  Object* first = objects;
  while (lock_of(first) != &pool[0].mutex) ++first;
  team::run([=] { copy_first(first, steps); }, [=] { copy_second(first + 1, steps); });
  std::printf("%llu\n", static_cast<unsigned long long>(first[0].references + first[1].references));
}
