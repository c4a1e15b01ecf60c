#pragma once
// Runs independent pieces of an analysis on a few threads.

#include "analysis/database/parallel_for.h"
#include "analysis/pipeline/pipeline.h"

namespace prof {

// parallel_for() by the options of an analysis, which is told how far it is.
template <typename Work>
void parallel_for(size_t count, const AnalyzeOptions& options, const char* stage, Work work) {
  Stage told(options.progress, stage, count);
  parallel_for(count, options.jobs, [&](size_t i) {
    work(i);
    told.add();
  });
}

}  // namespace prof
