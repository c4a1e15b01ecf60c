#include "tests/analysis/database/rules.h"

#include <cmath>

#include "analysis/database/utf8.h"

namespace prof::test {
namespace {

bool finite(const Values& values) {
  return std::isfinite(values.exclusive) && std::isfinite(values.inclusive) && std::isfinite(values.point);
}

class Rules {
 public:
  explicit Rules(const Database& database) : database_(database) {}

  std::string first_broken() {
    check_names();
    check_contexts();
    for (const Profile& profile : database_.profiles) check_profile(profile);
    require(database_.summaries.size() == database_.metrics.size() * database_.contexts.size(),
            "number of summaries");
    for (const Summary& summary : database_.summaries) {
      require(finite(summary.sum) && finite(summary.minimum) && finite(summary.maximum) &&
                  finite(summary.sum_of_squares),
              "summary is finite");
    }
    require(database_.traces.empty() || database_.traces.size() == database_.profiles.size(),
            "number of traces");
    for (const TraceSource& trace : database_.traces) {
      if (trace) check_trace(trace);
    }
    check_devices();
    return broken_;
  }

 private:
  void require(bool condition, const char* rule) {
    if (!condition && broken_.empty()) broken_ = rule;
  }
  void require_text(const std::string& text) { require(valid_utf8(text) == text, "text is UTF-8"); }
  void require_index(uint32_t index, size_t size) {
    require(index == kNone || index < size, "index in range");
  }

  void check_names() {
    require_text(database_.title);
    require_text(database_.description);
    for (const auto& module : database_.modules) {
      require_text(module.path);
      require(module.build_id.find_first_not_of("0123456789abcdef") == std::string::npos,
              "a build id is hexadecimal");
    }
    for (const auto& file : database_.files) {
      require_text(file.path);
      require(!file.copied || file.path.starts_with('/'), "a copied file has an absolute path");
    }
    for (const auto& function : database_.functions) {
      require_text(function.name);
      require_index(function.module, database_.modules.size());
      require_index(function.file, database_.files.size());
    }
    for (const auto& metric : database_.metrics) {
      require_text(metric.name);
      require_text(metric.unit);
      require_text(metric.description);
    }
  }

  void check_contexts() {
    for (size_t i = 0; i < database_.contexts.size(); ++i) {
      const Context& context = database_.contexts[i];
      const bool is_entry = context.kind == ContextKind::Entry;
      require(is_entry ? context.parent == kNone : context.parent < i, "a parent comes before its children");
      require(context.kind <= ContextKind::Instruction && context.relation <= Relation::InlinedCall,
              "known enumerator");
      require_index(context.function, database_.functions.size());
      require_index(context.file, database_.files.size());
      require_index(context.module, database_.modules.size());
      require_text(context.entry);
    }
  }

  void check_profile(const Profile& profile) {
    require_text(profile.id.host);
    require_text(profile.id.thread_name);
    for (size_t i = 0; i < profile.values.size(); ++i) {
      const ProfileValue& value = profile.values[i];
      require(value.context < database_.contexts.size() && value.metric < database_.metrics.size(),
              "index in range");
      require(finite(value.values), "value is finite");
      if (i == 0) continue;
      const ProfileValue& previous = profile.values[i - 1];
      require(previous.context < value.context ||
                  (previous.context == value.context && previous.metric < value.metric),
              "values are sorted");
    }
  }

  void check_trace(const TraceSource& trace) {
    std::vector<TraceRecord> block;
    uint64_t time = 0;
    while (trace(block)) {
      for (const TraceRecord& record : block) {
        require(record.time_ns >= time, "trace is sorted");
        require_index(record.context, database_.contexts.size());
        time = record.time_ns;
      }
    }
  }

  void check_devices() {
    const size_t profiles = database_.profiles.size();
    std::vector<DeviceLaunch> launches;
    while (database_.launches && database_.launches(launches))
      for (const DeviceLaunch& launch : launches) {
        require(launch.task < database_.task_names.size() && launch.queue < profiles, "index in range");
        require_index(launch.thread, profiles);
        require(launch.submit_ns <= launch.start_ns && launch.start_ns <= launch.end_ns,
                "tasks are submitted, begin and end in this order");
      }
    std::vector<WaitForDevice> waits;
    while (database_.device_waits && database_.device_waits(waits))
      for (const WaitForDevice& wait : waits) {
        require(wait.call < database_.wait_names.size() && wait.thread < profiles, "index in range");
        require(wait.begin_ns <= wait.end_ns, "waits begin before they end");
      }
    for (const auto* names : {&database_.task_names, &database_.wait_names})
      for (const std::string& name : *names) require_text(name);
  }

  const Database& database_;
  std::string broken_;
};

}  // namespace

std::string broken_rule(const Database& database) {
  return Rules(database).first_broken();
}

}  // namespace prof::test
