#include "prof/ranks/launcher_process.h"

#include <unistd.h>

#include <algorithm>
#include <array>
#include <ctime>
#include <fstream>
#include <iterator>
#include <sstream>
#include <string_view>
#include <vector>

namespace prof {
namespace {

namespace fs = std::filesystem;

constexpr int kMaxAncestors = 64;
constexpr std::string_view kHydra = "hydra_pmi_proxy";
// Processes below one of these belong to it, whatever started the launcher itself.
constexpr std::array<std::string_view, 6> kOtherLaunchers = {"slurmstepd", "flux-shell", "orted",
                                                             "prted",      "palsd",      "mpispawn"};

struct Process {
  std::string name;  // at most 15 characters
  int parent = 0;
  unsigned long long start_ticks = 0;
};

// Parses "pid (name) state parent ...", in which the name may contain anything.
std::optional<Process> process_of(const fs::path& directory) {
  std::ifstream in(directory / "stat");
  std::string text;
  std::getline(in, text, '\0');
  const size_t open = text.find('('), close = text.rfind(')');
  if (open == text.npos || close == text.npos || close < open) return std::nullopt;
  Process process{text.substr(open + 1, close - open - 1)};
  std::istringstream rest(text.substr(close + 1));
  constexpr int kBetween = 17;  // fields between the parent and the start time
  std::string skipped;
  rest >> skipped >> process.parent;
  for (int i = 0; i < kBetween; ++i) rest >> skipped;
  rest >> process.start_ticks;
  return rest ? std::optional(process) : std::nullopt;
}

std::vector<std::string> words_of(const fs::path& directory) {
  std::ifstream in(directory / "cmdline");
  std::vector<std::string> words;
  for (std::string word; std::getline(in, word, '\0');) words.push_back(word);
  return words;
}

std::string behind(const std::vector<std::string>& words, std::string_view option) {
  const auto at = std::ranges::find(words, option);
  return at == words.end() || std::next(at) == words.end() ? "" : *std::next(at);
}

std::string launch_in(const std::vector<std::string>& words) {
  std::string launch = behind(words, "--control-port");
  std::ranges::replace(launch, ':', '-');
  const std::string group = behind(words, "--pgid");
  if (launch.empty() || group.empty() || group == "0") return launch;
  return launch + "-" + group;
}

}  // namespace

std::optional<HydraProxy> hydra_proxy_above(int process, const fs::path& proc) {
  std::optional<Process> one = process_of(proc / std::to_string(process));
  for (int i = 0; one && one->parent > 1 && i < kMaxAncestors; ++i) {
    const int pid = one->parent;
    const fs::path directory = proc / std::to_string(pid);
    one = process_of(directory);
    if (!one || std::ranges::find(kOtherLaunchers, one->name) != kOtherLaunchers.end()) break;
    if (one->name == kHydra) return HydraProxy{pid, launch_in(words_of(directory))};
  }
  return std::nullopt;
}

std::optional<std::chrono::system_clock::time_point> start_of_process(int process) {
  using namespace std::chrono;
  const std::optional<Process> one = process_of(fs::path("/proc") / std::to_string(process));
  timespec since_boot{};
  if (!one || clock_gettime(CLOCK_BOOTTIME, &since_boot) != 0) return std::nullopt;
  const auto age =
      seconds(since_boot.tv_sec) + nanoseconds(since_boot.tv_nsec) -
      milliseconds(one->start_ticks * 1000 / static_cast<unsigned long long>(sysconf(_SC_CLK_TCK)));
  return system_clock::now() - duration_cast<system_clock::duration>(age);
}

}  // namespace prof
