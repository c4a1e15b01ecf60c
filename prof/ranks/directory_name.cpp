#include "prof/ranks/directory_name.h"

#include <unistd.h>

#include <algorithm>
#include <array>
#include <cstdlib>
#include <ctime>
#include <filesystem>
#include <optional>

#include "hpcrun/sample/config.h"
#include "prof/base/message.h"
#include "prof/ranks/parallel_job.h"

namespace prof {
namespace {

std::string present_local_time() {
  const std::time_t now = std::time(nullptr);
  std::tm local{};
  localtime_r(&now, &local);
  std::array<char, 32> text{};
  std::strftime(text.data(), text.size(), "%Y%m%d-%H%M%S", &local);
  return text.data();
}

// Replaces characters in ids of PBS and Flux that are not allowed, or inconvenient, in a file name.
std::string as_file_name(std::string text) {
  std::ranges::replace(text, '/', '_');
  return text;
}

}  // namespace

RunIdentity identity_of_this_run() {
  RunIdentity run;
  std::array<char, 256> host{};
  gethostname(host.data(), host.size() - 1);
  run.host = host.data();
  run.pid = getpid();
  if (const std::optional<ParallelJob> job = parallel_job()) {
    run.rank = job->rank;
    run.job_or_time = job->launch;
    run.is_one_of_many = true;
    return run;
  }
  for (const hpcrun::RankVariables& names : hpcrun::kRankVariables) {
    if (const char* value = getenv(names.rank); value && *value && !names.with_size_only) {
      run.rank = atoi(value);
      break;
    }
  }
  run.job_or_time = batch_job();
  if (run.job_or_time.empty()) run.job_or_time = present_local_time();
  return run;
}

std::string expand_directory_name(std::string_view name, const RunIdentity& run) {
  std::string expanded;
  for (size_t i = 0; i < name.size(); ++i) {
    if (name[i] != '%') {
      expanded += name[i];
      continue;
    }
    const char kind = ++i < name.size() ? name[i] : '\0';
    switch (kind) {
      case 'h':
        expanded += as_file_name(run.host);
        break;
      case 'p':
        expanded += std::to_string(run.pid);
        break;
      case 'r':
        expanded += std::to_string(run.rank);
        break;
      case 'j':
        expanded += as_file_name(run.job_or_time);
        break;
      case '%':
        expanded += '%';
        break;
      default:
        fail(kOwnFailure, "{}: unknown % sequence; use %h, %p, %r or %j, and %% for a percent sign", name);
    }
  }
  return expanded;
}

bool names_any_of(std::string_view name, std::string_view letters) {
  for (size_t i = name.find('%'); i != name.npos && i + 1 < name.size(); i = name.find('%', i + 2))
    if (letters.find(name[i + 1]) != letters.npos) return true;
  return false;
}

std::string default_directory_name(const std::string& program, const RunIdentity& run) {
  const std::string name = std::filesystem::path(program).filename().string();
  if (run.is_one_of_many) return fmt::format("prof-{}-{}", name, as_file_name(run.job_or_time));
  return fmt::format("prof-{}-{}-{}", name, as_file_name(run.job_or_time), run.pid);
}

}  // namespace prof
