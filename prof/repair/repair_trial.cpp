#include "prof/repair/repair_trial.h"

#include <fmt/ranges.h>
#include <unistd.h>

#include <algorithm>
#include <csignal>
#include <stdexcept>

#include "analysis/files/folder.h"
#include "hpcrun/sample/config.h"
#include "prof/base/message.h"

namespace prof {

namespace fs = std::filesystem;

namespace {

// Two runs of the same program differ by less than this.
constexpr double kMinGain = 1.02;
// Each repair that is tried alone takes two runs a pair. With more repairs there are too many findings to
// report one line each.
constexpr size_t kMaxTriedAlone = 8;

// No more can be reported; what() is the line that says why.
class TrialEnded : public std::runtime_error {
 public:
  using std::runtime_error::runtime_error;
};

// With the repairs the program ends in another way.
class OtherStatus : public TrialEnded {
 public:
  using TrialEnded::TrialEnded;
};

// A folder for files of the runtime, removed with the object.
class TrialFolder {
 public:
  explicit TrialFolder(const fs::path& directory) : path_(directory / fmt::format("trial-{}", getpid())) {
    try {
      Folder::make(path_);
    } catch (const WriteError& error) {
      fail(kOwnFailure, "cannot create {}: {}; choose another directory with -o", path_.string(),
           error.code().message());
    }
  }
  ~TrialFolder() { remove_own(path_); }
  TrialFolder(const TrialFolder&) = delete;
  const fs::path& path() const { return path_; }

 private:
  fs::path path_;
};

struct Paired {
  double ratio = 0;  // of the first one's time to the second one's, as the median of pairs
  double first_s = 0, second_s = 0;
  std::vector<double> ratios;
};

double median_of(std::vector<double> values) {
  std::ranges::sort(values);
  const size_t middle = values.size() / 2;
  return values.size() % 2 != 0 ? values[middle] : (values[middle - 1] + values[middle]) / 2;
}

class Trial {
 public:
  explicit Trial(const TrialSetting& setting) : setting_(setting), folder_(setting.directory) {}

  // Compares two versions: repairs, or nullptr for the unchanged program.
  Paired compare(const RepairFile* first, const RepairFile* second) {
    std::vector<double> ratios, first_s, second_s;
    for (uint32_t pair = 0; pair < setting_.pairs; ++pair) {
      // The order alternates, so that changes of the machine's load affect both.
      const bool is_turned = pair % 2 != 0;
      const double a = seconds(is_turned ? second : first);
      const double b = seconds(is_turned ? first : second);
      first_s.push_back(is_turned ? b : a);
      second_s.push_back(is_turned ? a : b);
      ratios.push_back(first_s.back() / second_s.back());
    }
    return {median_of(ratios), median_of(first_s), median_of(second_s), ratios};
  }

 private:
  double seconds(const RepairFile* repairs) {
    Launch launch_plan = setting_.launch;
    launch_plan.is_silent = true;
    launch_plan.measurement_directory = folder_.path();
    if (repairs)
      prepare(*repairs, launch_plan);
    else
      launch_plan.environment.clear();
    const Outcome outcome = launch(launch_plan);
    if (outcome.exit_status == setting_.exit_status) return std::max(outcome.wall_s, 1e-6);
    if (outcome.signal == SIGINT || outcome.signal == SIGTERM || outcome.signal == SIGHUP)
      throw TrialEnded("verify: interrupted; all proposed repairs are kept");
    if (!repairs)
      throw TrialEnded(
          fmt::format("verify: without input and output the program ends with status {}, not {}; the repairs "
                      "cannot be verified",
                      outcome.exit_status, setting_.exit_status));
    throw OtherStatus(fmt::format("with it the program ended with status {}, not {}", outcome.exit_status,
                                  setting_.exit_status));
  }

  void prepare(const RepairFile& repairs, Launch& launch_plan) {
    const std::string plan = repair_plan(repairs);
    if (!plan.empty()) write_repair_plan(plan, folder_.path());
    add_repair_environment(setting_.request, !plan.empty(), launch_plan.environment);
    std::erase_if(launch_plan.environment,
                  [](const auto& variable) { return variable.first == hpcrun::kEnvDirectory; });
    launch_plan.environment.emplace_back(hpcrun::kEnvDirectory, folder_.path().string());
  }

  const TrialSetting& setting_;
  TrialFolder folder_;
};

// Returns the name of a repair in a file. Numbers of locks follow those of sites.
std::string name_of(const RepairFile& file, size_t number) {
  return number < file.sites.size() ? name_of(file.sites[number].site)
                                    : name_of(file.locks[number - file.sites.size()]);
}

RepairFile without(const RepairFile& file, size_t number) {
  RepairFile rest = file;
  if (number < file.sites.size())
    rest.sites.erase(rest.sites.begin() + static_cast<std::ptrdiff_t>(number));
  else
    rest.locks.erase(rest.locks.begin() + static_cast<std::ptrdiff_t>(number - file.sites.size()));
  return rest;
}

size_t count_of(const RepairFile& file) {
  return file.sites.size() + file.locks.size();
}

// Gives every repair of `tried`, a part of `file`, the result in `file`.
void note(const RepairFile& tried, const RepairTrial* trial, const std::string& declined, RepairFile& file) {
  const auto update = [&](RepairTerms& terms) {
    if (trial) terms.trial = *trial;
    terms.declined = declined;
  };
  for (SiteRepair& repair : file.sites)
    if (std::ranges::any_of(tried.sites, [&](const SiteRepair& one) { return is_same_data(one, repair); }))
      update(repair.terms);
  for (LockRepair& repair : file.locks)
    if (std::ranges::any_of(tried.locks, [&](const LockRepair& one) { return is_same_data(one, repair); }))
      update(repair.terms);
}

RepairFile only(const RepairFile& file, size_t number) {
  RepairFile one;
  if (number < file.sites.size())
    one.sites.push_back(file.sites[number]);
  else
    one.locks.push_back(file.locks[number - file.sites.size()]);
  return one;
}

void say_ratio(const Paired& paired) {
  say("verify: {} repaired, {} without: {:.2f} times as fast, the median of {} pairs ({:.2f})",
      fmt::format("{:.2f} s", paired.second_s), fmt::format("{:.2f} s", paired.first_s), paired.ratio,
      paired.ratios.size(), fmt::join(paired.ratios, ", "));
}

std::string format_trial(double ratio, uint32_t pairs) {
  return fmt::format("tried {} times, it made the program {:.2f} times as fast", pairs, ratio);
}

// Removes repairs from `kept` that slow the program down.
bool leave_out_what_harms(Trial& trial, uint32_t pairs, RepairFile& kept, RepairFile& file) {
  bool is_changed = false;
  for (size_t number = 0; number < count_of(kept) && count_of(kept) > 1;) {
    const RepairFile rest = without(kept, number);
    const Paired paired = trial.compare(&rest, &kept);
    if (paired.ratio >= 1 / kMinGain) {
      ++number;
      continue;
    }
    say("verify: {} left out: with these repairs in addition, the program runs {:.2f} times as fast",
        name_of(kept, number), paired.ratio);
    const RepairTrial tried{paired.ratio, pairs};
    note(only(kept, number), &tried, format_trial(paired.ratio, pairs), file);
    kept = rest;
    is_changed = true;
  }
  return is_changed;
}

void try_all(const TrialSetting& setting, const RepairFile& all, RepairFile& file) {
  Trial trial(setting);
  RepairFile kept = all;
  try {
    Paired paired = trial.compare(nullptr, &kept);
    say_ratio(paired);
    if (count_of(kept) > 1 && count_of(kept) <= kMaxTriedAlone &&
        leave_out_what_harms(trial, setting.pairs, kept, file)) {
      paired = trial.compare(nullptr, &kept);
      say_ratio(paired);
    }
    const bool is_faster = paired.ratio >= kMinGain;
    const RepairTrial tried{paired.ratio, setting.pairs};
    note(kept, &tried, is_faster ? "" : format_trial(paired.ratio, setting.pairs), file);
    if (!is_faster) say("verify: the program is not faster with the repairs; they are discarded");
  } catch (const OtherStatus& changed) {
    note(all, nullptr, changed.what(), file);
    say("verify: {}; all repairs are discarded", changed.what());
  }
}

}  // namespace

void try_repairs(const TrialSetting& setting, RepairFile& file) {
  std::vector<std::string> left_out;
  const RepairFile all = applicable_repairs(file, setting.request, left_out);
  if (all.is_empty()) {
    say("verify: no repairs were found");
    return;
  }
  remark("verify: the program runs {}{} times, without input and output",
         count_of(all) > 1 ? "at least " : "", 2 * setting.pairs);
  try {
    try_all(setting, all, file);
  } catch (const TrialEnded& ended) {
    say_line(ended.what());
  }
}

}  // namespace prof
