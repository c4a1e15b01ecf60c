#include "analysis/views/run/idle_threads.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <map>

#include "analysis/views/tree/call_path.h"
#include "analysis/views/tree/format_code.h"

namespace prof {

std::vector<WorkWhileIdle> work_while_idle(const CallTree& tree, const RunSummary& run) {
  struct Sum {
    WorkWhileIdle work;
    double idle_cpu_s = 0, of_all_s = 0, most_s = 0;
  };
  std::map<std::pair<std::string, std::string>, Sum> sums;
  for (const IdleRecord& record : run.locks.idle) {
    const std::vector<CodeFrame> frames = program_part(frames_of(tree, record.context));
    if (frames.empty()) continue;
    const CodeFrame& function = telling_frame(frames);
    Sum& sum = sums[{function.function, function.file}];
    if (record.seconds > sum.most_s) {
      sum.most_s = record.seconds;
      sum.work.context = record.context;
    }
    sum.work.seconds += record.seconds;
    sum.work.cpu_s += record.cpu_s;
    sum.idle_cpu_s += record.idle_cpu_s;
    sum.of_all_s += record.idle_threads * record.idle_cpu_s;
  }
  std::vector<WorkWhileIdle> all;
  for (auto& [function, sum] : sums) {
    if (sum.idle_cpu_s <= 0 || sum.work.seconds <= 0) continue;
    sum.work.idle_threads = sum.of_all_s / sum.idle_cpu_s;
    sum.work.working_threads = sum.of_all_s / sum.work.seconds;
    all.push_back(sum.work);
  }
  std::ranges::stable_sort(all, std::greater(), &WorkWhileIdle::seconds);
  return all;
}

std::string format_idle(const WorkWhileIdle& work) {
  const auto idle = static_cast<uint64_t>(std::max(1.0, std::round(work.idle_threads)));
  const auto all = static_cast<uint64_t>(std::round(work.idle_threads + work.working_threads));
  return fmt::format("{} of {} threads waited", idle, std::max(all, idle + 1));
}

}  // namespace prof
