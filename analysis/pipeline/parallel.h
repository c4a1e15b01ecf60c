#pragma once
// Runs independent pieces of an analysis on a few threads.

#include <atomic>

#include "analysis/database/parallel_for.h"
#include "analysis/pipeline/pipeline.h"

namespace prof {

// parallel_for() by the options of an analysis, which is told how far it is.
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
