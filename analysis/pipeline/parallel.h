#pragma once
// Runs independent parts of an analysis on several threads.

#include "analysis/database/parallel_for.h"
#include "analysis/pipeline/pipeline.h"

namespace prof {

// Calls parallel_for() with the options of an analysis, and reports progress.
template <typename Work>
void parallel_for(size_t count, const AnalyzeOptions& options, const char* stage, Work work) {
  Stage reporter(options.progress, stage, count);
  parallel_for(count, options.jobs, [&](size_t i) {
    work(i);
    reporter.add();
  });
}

}  // namespace prof
