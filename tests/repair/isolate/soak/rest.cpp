// Reads the resources of the process at rest from /proc.

#include <dirent.h>
#include <sys/stat.h>
#include <time.h>

#include <algorithm>
#include <cstdlib>
#include <cstring>
#include <span>
#include <string>

#include "soak.h"

namespace soak {

namespace {

template <class Use>
void for_each_entry(const char* folder, Use use) {
  DIR* const entries = opendir(folder);
  if (!entries) return;  // a thread that has ended
  while (const dirent* entry = readdir(entries))
    if (entry->d_name[0] != '.') use(std::string(entry->d_name));
  closedir(entries);
}

size_t tasks() {
  size_t count = 0;
  for_each_entry("/proc/self/task", [&](const std::string&) { ++count; });
  return count;
}

std::string children() {
  std::string all;
  for_each_entry("/proc/self/task", [&](const std::string& task) {
    FILE* const file = fopen(("/proc/self/task/" + task + "/children").c_str(), "r");
    if (!file) return;
    char text[512];
    while (fgets(text, sizeof text, file)) all += text;
    fclose(file);
  });
  return all;
}

template <class Use>
void for_each_line(const char* path, Use use) {
  FILE* const file = fopen(path, "r");
  SOAK_REQUIRE(file);
  char* line = nullptr;
  size_t room = 0;
  while (getline(&line, &room, file) > 0) use(line);
  free(line);
  fclose(file);
}

uint64_t common_kilobytes() {
  uint64_t blocks = 0;
  for_each_entry("/proc/self/fd", [&](const std::string& number) {
    const std::string path = "/proc/self/fd/" + number;
    char target[256] = {};
    struct stat status {};
    if (readlink(path.c_str(), target, sizeof target - 1) > 0 && strstr(target, "memfd") &&
        stat(path.c_str(), &status) == 0)
      blocks += static_cast<uint64_t>(status.st_blocks);
  });
  return blocks >> 1;
}

// Returns the minimum of several reads, because the thread that isolates pages has some open while it reads
// /proc.
size_t descriptors() {
  constexpr int kLooks = 10;
  size_t least = SIZE_MAX;
  for (int look = 0; look < kLooks; ++look) {
    size_t count = 0;
    for_each_entry("/proc/self/fd", [&](const std::string&) { ++count; });
    least = std::min(least, count);
    usleep(5'000);
  }
  return least;
}

}  // namespace

void print_signals() {
  const auto print = [](const std::string& task) {
    FILE* const file = fopen((task + "/status").c_str(), "r");
    if (!file) return;
    char* line = nullptr;
    size_t room = 0;
    std::string said = task + ":";
    while (getline(&line, &room, file) > 0)
      if (!strncmp(line, "State", 5) || !strncmp(line, "Sig", 3) || !strncmp(line, "ShdPnd", 6))
        said.append(" ").append(line, strlen(line) - 1);
    free(line);
    fclose(file);
    dprintf(2, "%s\n", said.c_str());
  };
  for_each_entry("/proc/self/task", [&](const std::string& task) { print("/proc/self/task/" + task); });
  std::string converted_threads = children();
  for (char* one = strtok(converted_threads.data(), " "); one; one = strtok(nullptr, " "))
    print(std::string("/proc/") + one);
}

// Not after forks, which map the file privately.
bool is_memory_common() {
  bool is = false;
  for_each_line("/proc/self/maps",
                [&](const char* line) { is |= strstr(line, "memfd") && strstr(line, " rw-s "); });
  return is;
}

bool has_children() {
  return !children().empty();
}

Rest look_at_rest() {
  constexpr int kMaxTries = 3'000;  // times 10 ms
  // Besides this thread there is the one that isolates pages. Once a second it checks whether it is needed.
  // After forks it is not: memory is private until it has ended and a thread is created.
  const auto is_at_rest = [] {
    const size_t now = tasks();
    return now == 1 || (now == 2 && is_memory_common());
  };
  for (int tries = 0; !is_at_rest() || has_children(); ++tries) {
    if (tries == kMaxTries) dprintf(2, "left: %zu tasks, children %s\n", tasks(), children().c_str());
    SOAK_REQUIRE(tries < kMaxTries);
    usleep(10'000);
  }
  Rest rest;
  rest.descriptors = descriptors();
  for_each_line("/proc/self/maps", [&](const char*) { ++rest.mappings; });
  for_each_line("/proc/self/status",
                [&](const char* line) { sscanf(line, "RssAnon: %lu kB", &rest.own_kb); });
  rest.common_kb = common_kilobytes();
  return rest;
}

bool Growth::is_known() const {
  return rests_.size() >= kWarm + 3 * kMinRests;
}

void Growth::check() const {
  const size_t count = std::min((rests_.size() - kWarm) / 3, kMaxRests);
  const std::span all(rests_), first = all.subspan(kWarm, count), last = all.last(count);
  const auto most = [&](size_t Rest::*what) { return std::ranges::max(first, {}, what).*what; };
  const auto least = [&](size_t Rest::*what) { return std::ranges::min(last, {}, what).*what; };
  // If something is left each time or now and then, the last rests have more of it. Descriptors are only open
  // for a while. The private parts of common memory are a page of the loader's and the main thread's first
  // pages.
  SOAK_REQUIRE(least(&Rest::descriptors) <= most(&Rest::descriptors));
  SOAK_REQUIRE(least(&Rest::own_kb) <= most(&Rest::own_kb));
  // Mappings merge again or not as the heap's pieces are given back: 30 more were seen.
  constexpr size_t kPieces = 64;
  SOAK_REQUIRE(least(&Rest::mappings) <= most(&Rest::mappings) + kPieces);
  // The heap keeps released memory for ten seconds, in pieces of 2 MiB: 12 MiB was seen between two rests.
  constexpr size_t kHeapKb = 16 << 10;
  SOAK_REQUIRE(least(&Rest::common_kb) <= most(&Rest::common_kb) + kHeapKb);
}

}  // namespace soak
