#pragma once
// Runs independent pieces of work on several threads.

#include <algorithm>
#include <atomic>
#include <condition_variable>
#include <exception>
#include <map>
#include <mutex>
#include <thread>
#include <vector>

namespace prof {

// Calls work(i) for every i below count, on up to `jobs` threads. Returns when all are done. Rethrows the
// first exception.
template <typename Work>
void parallel_for(size_t count, int jobs, Work work) {
  std::atomic<size_t> next{0};
  std::exception_ptr failure;
  std::mutex failure_lock;
  const auto run = [&] {
    try {
      for (size_t i = next++; i < count; i = next++) work(i);
    } catch (...) {
      const std::lock_guard guard(failure_lock);
      if (!failure) failure = std::current_exception();
      next = count;
    }
  };
  const size_t helpers = std::min(count, static_cast<size_t>(std::max(jobs, 1))) - (count == 0 ? 0 : 1);
  std::vector<std::jthread> threads;
  for (size_t i = 0; i < helpers; ++i) threads.emplace_back(run);
  run();
  threads.clear();
  if (failure) std::rethrow_exception(failure);
}

// Calls use(i, make(i)) for every i below count. make() runs on up to `jobs` threads at once, use() one at a
// time and in the order of i. At most about twice as many results as threads wait for their use. Rethrows the
// first exception.
template <typename Make, typename Use>
void make_in_order(size_t count, int jobs, Make make, Use use) {
  using Result = decltype(make(size_t{0}));
  const size_t ahead = 2 * static_cast<size_t>(std::max(jobs, 1));
  std::mutex lock;
  std::condition_variable was_used;
  std::map<size_t, Result> made;
  size_t next = 0;  // to be used
  bool is_using = false, has_failed = false;
  parallel_for(count, jobs, [&](size_t i) {
    try {
      {
        std::unique_lock guard(lock);
        was_used.wait(guard, [&] { return has_failed || i < next + ahead; });
        if (has_failed) return;
      }
      Result result = make(i);
      std::unique_lock guard(lock);
      made.emplace(i, std::move(result));
      if (is_using) return;
      is_using = true;
      for (auto at = made.find(next); at != made.end(); at = made.find(next)) {
        Result turn = std::move(at->second);
        made.erase(at);
        guard.unlock();
        use(next, std::move(turn));
        guard.lock();
        ++next;
        was_used.notify_all();
      }
      is_using = false;
    } catch (...) {
      const std::lock_guard guard(lock);
      has_failed = true;
      was_used.notify_all();
      throw;
    }
  });
}

}  // namespace prof
