#pragma once
// Runs independent pieces of work on a few threads.

#include <algorithm>
#include <atomic>
#include <exception>
#include <mutex>
#include <thread>
#include <vector>

#include "analysis/pipeline/pipeline.h"

namespace prof {

// Calls work(i) for every i below count, on up to `jobs` threads; returns when all are done. The first
// exception thrown is thrown again here.
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

// The same by the options of an analysis, which is told how far it is.
template <typename Work>
void parallel_for(size_t count, const AnalyzeOptions& options, const char* stage, Work work) {
  std::atomic<size_t> done{0};
  parallel_for(count, options.jobs, [&](size_t i) {
    work(i);
    const size_t now = ++done;
    if (options.progress) options.progress(stage, now, count);
  });
}

}  // namespace prof
