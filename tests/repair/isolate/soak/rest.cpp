// What there is of the process when it rests, by /proc.

#include <dirent.h>
#include <sys/stat.h>
#include <time.h>

#include <algorithm>
#include <cstdlib>
#include <cstring>
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

uint64_t common_megabytes() {
  uint64_t blocks = 0;
  for_each_entry("/proc/self/fd", [&](const std::string& number) {
    const std::string path = "/proc/self/fd/" + number;
    char target[256] = {};
    struct stat status {};
    if (readlink(path.c_str(), target, sizeof target - 1) > 0 && strstr(target, "memfd") &&
        stat(path.c_str(), &status) == 0)
      blocks += static_cast<uint64_t>(status.st_blocks);
  });
  return blocks >> 11;
}

// The least of several looks: the thread that isolates pages has some open while it looks around.
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

Rest look_at_rest() {
  constexpr int kPatience = 3'000;  // of 10 ms
  // Besides this thread there may be the one that isolates pages, which looks once a second whether it is
  // needed still.
  for (int tries = 0; tasks() > 2 || !children().empty(); ++tries) {
    if (tries == kPatience) dprintf(2, "left: %zu tasks, children %s\n", tasks(), children().c_str());
    SOAK_REQUIRE(tries < kPatience);
    usleep(10'000);
  }
  Rest rest;
  rest.descriptors = descriptors();
  for_each_line("/proc/self/maps", [&](const char*) { ++rest.mappings; });
  uint64_t own_kb = 0;
  for_each_line("/proc/self/status", [&](const char* line) { sscanf(line, "RssAnon: %lu kB", &own_kb); });
  rest.megabytes = common_megabytes() + (own_kb >> 10);
  return rest;
}

}  // namespace soak
