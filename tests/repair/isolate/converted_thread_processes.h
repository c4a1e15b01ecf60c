#pragma once
// Memory that processes share, with each page at the offset of its address in one file, and processes that
// stand in for converted threads: children forked while there is one thread.

#include <pthread.h>
#include <sys/mman.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cstdint>
#include <cstdlib>
#include <functional>
#include <new>
#include <vector>

#include "repair/isolate/pages/private_pages.h"

namespace hpcrun::test {

class CommonPages {
 public:
  explicit CommonPages(size_t pages)
      : bytes_(pages * kPageBytes), file_(memfd_create("common", MFD_CLOEXEC)) {
    void* const room = mmap(nullptr, bytes_, PROT_NONE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
    at_ = reinterpret_cast<uint64_t>(room);
    if (file_ < 0 || room == MAP_FAILED || ftruncate(file_, off_t{1} << 47) != 0 ||
        mmap(room, bytes_, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_FIXED, file_, static_cast<off_t>(at_)) !=
            room ||
        !reserve_private_pages(file_))
      std::abort();
  }
  ~CommonPages() {
    munmap(reinterpret_cast<void*>(at_), bytes_);
    close(file_);
  }
  CommonPages(const CommonPages&) = delete;
  CommonPages& operator=(const CommonPages&) = delete;

  uint64_t page(size_t number) const { return at_ + number * kPageBytes; }
  template <class T>
  T* at(size_t page_number, size_t offset = 0) const {
    return reinterpret_cast<T*>(page(page_number) + offset);
  }

  // Returns a mutex or a barrier for several processes.
  pthread_mutex_t* mutex(size_t page_number, size_t offset = 0) const {
    pthread_mutexattr_t attributes;
    pthread_mutexattr_init(&attributes);
    pthread_mutexattr_setpshared(&attributes, PTHREAD_PROCESS_SHARED);
    auto* const mutex = at<pthread_mutex_t>(page_number, offset);
    pthread_mutex_init(mutex, &attributes);
    return mutex;
  }
  pthread_barrier_t* barrier(size_t page_number, size_t offset, unsigned count) const {
    pthread_barrierattr_t attributes;
    pthread_barrierattr_init(&attributes);
    pthread_barrierattr_setpshared(&attributes, PTHREAD_PROCESS_SHARED);
    auto* const barrier = at<pthread_barrier_t>(page_number, offset);
    pthread_barrier_init(barrier, &attributes, count);
    return barrier;
  }

 private:
  size_t bytes_;
  int file_;
  uint64_t at_;
};

// Runs `converted` in `count` processes at once. Returns how many of them returned true.
inline size_t in_converted_threads(size_t count,
                                   const std::function<bool(size_t, PrivatePages&)>& converted) {
  std::vector<pid_t> children;
  for (size_t t = 0; t < count; ++t) {
    const pid_t child = fork();
    if (child == 0) {
      PrivatePages pages;
      _exit(converted(t, pages) ? 0 : 1);
    }
    children.push_back(child);
  }
  size_t right = 0;
  for (const pid_t child : children) {
    int status = 0;
    right += waitpid(child, &status, 0) == child && status == 0;
  }
  return right;
}

}  // namespace hpcrun::test
