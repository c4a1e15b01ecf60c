#include "analysis/views/run/format_locks.h"

#include <fmt/format.h>

#include <algorithm>

#include "analysis/views/tree/call_path.h"
#include "analysis/views/tree/format_code.h"
#include "analysis/words/numbers.h"

namespace prof {

std::optional<std::string> reason_no_locks(const RunSummary& run) {
  if (run.followed_locks) return std::nullopt;
  return "locks were not measured in this run; measure with prof run -e locks";
}

std::optional<std::string> locks_not_followed(const CallTree& tree, const RunSummary& run) {
  const auto is_java = [](const LoadModule& module) { return base_name(module.path) == "libjvm.so"; };
  if (!run.followed_locks || std::ranges::none_of(tree.database->modules, is_java)) return std::nullopt;
  return "Java's monitors (synchronized) and java.util.concurrent's locks are not measured: the locks "
         "shown are those of the virtual machine and of native libraries";
}

LockWaiting lock_waiting(const RunSummary& run) {
  LockWaiting all;
  for (const LockRecord& record : run.locks.locks) all.seconds += record.waited_s;
  const double whole = run.cpu_s.value_or(0) + all.seconds;
  if (whole > 0) all.share = all.seconds / whole;
  return all;
}

std::vector<CodeFrame> user_of_lock(const CallTree& tree, uint32_t context) {
  std::vector<CodeFrame> frames = frames_of(tree, context);
  // If a thread of an OpenMP team waits, the innermost frame is already the program's own.
  if (!frames.empty() && !is_of_system(frames.front())) return frames;
  const auto outside = std::ranges::find_if(
      frames, [&](const CodeFrame& frame) { return frame.module != frames.front().module; });
  if (outside == frames.end()) return frames;
  frames.erase(frames.begin(), outside);
  frames.erase(frames.begin(), frames.begin() + (&telling_frame(frames) - frames.data()));
  return frames;
}

std::string format_lock(const CallTree& tree, const LockRecord& record) {
  if (!record.name.empty()) return record.name;
  const std::string_view kind = name_of(record.kind);
  const std::string allocated =
      record.allocation == 0
          ? ""
          : fmt::format(" allocated by {}", format_code(user_of_lock(tree, record.allocation)));
  if (record.objects > 1)
    return fmt::format("{} {}{}", record.objects,
                       record.kind == WaitedFor::Mutex ? "mutexes" : fmt::format("{}s", kind), allocated);
  if (!allocated.empty()) return fmt::format("the {}{}", kind, allocated);
  return fmt::format("the {} at {:#x}", kind, record.address);
}

std::string format_waits(const CallTree& tree, const LockRecord& record) {
  std::string what = format_lock(tree, record);
  if (!record.name.empty())
    what += record.declared.empty() ? fmt::format(" ({})", name_of(record.kind))
                                    : fmt::format(" ({}, {})", name_of(record.kind), record.declared);
  return fmt::format("{}: waited for {} in {}, the longest {}", what, format_duration(record.waited_s),
                     format_count(record.waits, "wait"), format_duration(record.longest_s));
}

double unblamed_s(const LockRecord& record) {
  constexpr double kWorthTelling = 0.01;
  const double unknown = record.waited_s - record.open_s - record.blamed_s;
  return unknown > kWorthTelling * record.waited_s ? unknown : 0;
}

std::string format_waiting(const RunSummary& run) {
  if (run.locks.locks.empty()) return "no thread waited for a lock";
  const LockWaiting all = lock_waiting(run);
  return fmt::format("Threads waited {} for locks, {} of the time in which they worked or waited for locks.",
                     format_duration(all.seconds), format_percent(all.share));
}

}  // namespace prof
