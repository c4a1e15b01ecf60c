#include "prof/command_line/setting_scopes.h"

#include <algorithm>

namespace prof {

const std::vector<ScopedSetting>& scoped_settings() {
  using enum SettingScope;
  static const std::vector<ScopedSetting> settings = {
      {"run.event", Project},
      {"run.trace", Project},
      {"run.no-analyze", Project},
      {"run.delay", Project},
      {"run.duration", Project},
      {"run.force", Personal},   // removes earlier measurements
      {"run.output", Personal},  // a folder that files are written to
      {"run.share", Personal},   // lets others read the results
      {"run.quiet", Project},
      {"run.pid", Personal},  // a process that is stopped and changed
      {"run.paused", Project},
      {"run.no-devices", Project},
      {"run.device-trace", Project},
      {"run.repair", Personal},  // changes the program, and loads a file
      {"run.verify", Personal},  // executes the program again
      {"run.ranks", Project},
      {"run.aggregate", Personal},  // a disk that files are written to
      {"attach.event", Project},
      {"attach.trace", Project},
      {"attach.no-analyze", Project},
      {"attach.delay", Project},
      {"attach.duration", Project},
      {"attach.force", Personal},
      {"attach.output", Personal},
      {"attach.share", Personal},
      {"attach.quiet", Project},
      {"exact.dead-stores", Project},
      {"exact.silent-stores", Project},
      {"exact.redundant-loads", Project},
      {"exact.count", Project},
      {"exact.no-analyze", Project},
      {"exact.force", Personal},
      {"exact.output", Personal},
      {"exact.share", Personal},
      {"exact.quiet", Project},
      {"analyze.output", Personal},
      {"analyze.jobs", Personal},        // the machine is the user's
      {"analyze.no-sources", Personal},  // controls whether files are copied
      {"analyze.merge-recursion", Project},
      {"analyze.resume", Personal},  // leaves files for later analyses, and reads them
      {"analyze.share", Personal},
      {"analyze.quiet", Project},
      {"report.thread", Project},
      {"report.merge-recursion", Project},
      {"report.view", Project},
      {"report.format", Project},
      {"report.metric", Project},
      {"report.threshold", Project},
      {"report.depth", Project},
      {"report.statistics", Project},
      {"report.stall-factor", Project},
      {"report.stall-share", Project},
      {"report.barriers", Project},
      {"report.quiet", Project},
      {"diff.before", Personal},  // databases that are loaded
      {"diff.after", Personal},
      {"diff.by", Project},
      {"diff.metric", Project},
      {"diff.threshold", Project},
      {"diff.limit", Project},
      {"diff.format", Project},
      {"diff.same-total", Project},
      {"diff.fail-on-regress", Project},
      {"diff.scaling", Project},
      {"diff.quiet", Project},
      {"view.compare", Personal},  // a database that is loaded
      {"view.same-total", Project},
      {"view.view", Project},
      {"view.function", Project},
      {"view.metric", Project},
      {"view.thread", Project},
      {"view.time", Project},
      {"view.depth", Project},
      {"view.theme", Project},
      {"view.screenshot", Personal},  // a file that is written
      {"view.table", Personal},
      {"view.size", Project},
      {"view.quiet", Project},
      {"export.thread", Project},
      {"export.merge-recursion", Project},
      {"export.format", Project},
      {"export.output", Personal},
      {"export.force", Personal},  // replaces files that prof did not write
      {"export.metric", Project},
      {"export.quiet", Project},
      {"import.output", Personal},
      {"import.format", Project},
      {"import.no-sources", Personal},
      {"import.share", Personal},
      {"import.quiet", Project},
      {"list.events.format", Project},
      {"list.metrics.format", Project},
      {"list.formats.format", Project},
      {"list.repairs.format", Project},
  };
  return settings;
}

SettingScope setting_scope(std::string_view key) {
  const auto found = std::ranges::find(scoped_settings(), key, &ScopedSetting::key);
  return found == scoped_settings().end() ? SettingScope::Personal : found->scope;
}

}  // namespace prof
