#include <fmt/format.h>

#include <algorithm>
#include <cmath>

#include "analysis/database/database.h"
#include "analysis/database/statistics.h"
#include "analysis/database/write.h"

namespace prof {
namespace {

constexpr size_t kMaximumEntries = UINT16_MAX;       // nEntryPoints is 16 bits wide
constexpr size_t kMaximumContexts = UINT32_MAX - 1;  // ids are 32 bits wide, and 0 is in use
constexpr size_t kMaximumProfiles = UINT32_MAX - 1;  // the summary is profile 0

template <typename... Arguments>
void require(bool condition, fmt::format_string<Arguments...> text, Arguments&&... arguments) {
  if (condition) return;
  throw DatabaseError(
      DatabaseError::Kind::InvalidModel,
      "cannot write the database: " + fmt::format(text, std::forward<Arguments>(arguments)...) +
          "; this is a defect of the program that writes it");
}

bool in_range(uint32_t index, size_t size) {
  return index == kNone || index < size;
}

bool finite(const Values& values) {
  return std::isfinite(values.exclusive) && std::isfinite(values.inclusive) && std::isfinite(values.point);
}

void validate_contexts(const Database& database) {
  size_t entries = 0;
  for (size_t i = 0; i < database.contexts.size(); ++i) {
    const Context& context = database.contexts[i];
    const bool is_entry = context.kind == ContextKind::Entry;
    entries += is_entry;
    require(is_entry == (context.parent == kNone), "context {} must be an entry point or have a parent", i);
    require(is_entry || context.parent < i, "context {} comes before its parent", i);
    require(in_range(context.function, database.functions.size()), "context {} has an unknown function", i);
    require(in_range(context.file, database.files.size()), "context {} has an unknown file", i);
    require(in_range(context.module, database.modules.size()), "context {} has an unknown module", i);
  }
  require(entries <= kMaximumEntries, "{} entry points, the format holds {}", entries, kMaximumEntries);
}

}  // namespace

void validate_values(const Database& database, size_t profile, const std::vector<ProfileValue>& values) {
  const ProfileValue* previous = nullptr;
  for (const ProfileValue& value : values) {
    require(value.context < database.contexts.size() && value.metric < database.metrics.size(),
            "profile {} has a value of an unknown context or metric", profile);
    require(!previous || previous->context < value.context ||
                (previous->context == value.context && previous->metric < value.metric),
            "the values of profile {} are not sorted by context and metric", profile);
    require(finite(value.values), "profile {} has a value that is not a number", profile);
    previous = &value;
  }
}

void validate(const Database& database) {
  require(!database.stored, "its values are in the file that it was read from");
  require(database.metrics.size() <= kMaximumMetrics, "{} metrics, the format holds {}",
          database.metrics.size(), kMaximumMetrics);
  require(database.contexts.size() <= kMaximumContexts, "too many contexts");
  require(database.profiles.size() <= kMaximumProfiles, "too many profiles");
  require(database.traces.empty() || database.traces.size() == database.profiles.size(),
          "{} traces for {} profiles", database.traces.size(), database.profiles.size());
  require(database.trace_records.empty() || database.trace_records.size() == database.traces.size(),
          "the lengths of {} traces are known of {}", database.trace_records.size(), database.traces.size());
  require(database.summaries.empty() ||
              database.summaries.size() == database.metrics.size() * database.contexts.size(),
          "{} summaries for {} metrics and {} contexts", database.summaries.size(), database.metrics.size(),
          database.contexts.size());
  for (const Function& function : database.functions) {
    require(
        in_range(function.module, database.modules.size()) && in_range(function.file, database.files.size()),
        "function {} has an unknown module or file", function.name);
  }
  validate_contexts(database);
  for (const SourceFile& file : database.files)
    require(!file.copied || file.path.starts_with('/'), "the copied file {} has no absolute path", file.path);
  const std::vector<uint32_t>& first = database.values.first;
  require(
      !database.values.compute || (!first.empty() && first.front() == 0 &&
                                   first.back() == database.profiles.size() && std::ranges::is_sorted(first)),
      "the pieces of values are not those of {} profiles", database.profiles.size());
  for (const Summary& summary : database.summaries) {
    require(finite(summary.sum) && finite(summary.minimum) && finite(summary.maximum) &&
                finite(summary.sum_of_squares),
            "a summary holds a value that is not a number");
  }
}

}  // namespace prof
