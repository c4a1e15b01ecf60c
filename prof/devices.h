#pragma once
// What `prof run` adds to a program's surroundings so that the runtime follows it on accelerators.

#include <filesystem>
#include <string>
#include <utility>
#include <vector>

namespace prof {

struct DevicePlan {
  std::vector<std::filesystem::path> preload;  // behind the runtime
  std::vector<std::pair<std::string, std::string>> environment;
};

// `runtime`: where the program gets libhpcrun.so from. What the user set is kept.
DevicePlan plan_devices(const std::filesystem::path& runtime);

}  // namespace prof
