#include "prof/devices.h"

#include <cstdlib>

#include "prof/doctor/opencl_loader.h"
#include "prof/runtime_library.h"

namespace prof {

namespace {

constexpr const char* kLayers = "OPENCL_LAYERS";

std::string text_of(const char* variable) {
  const char* text = getenv(variable);
  return text ? text : "";
}

// The last layer is the first that the program's calls come to.
std::string behind(const std::string& present, const std::string& added) {
  return present.empty() ? added : present + ":" + added;
}

}  // namespace

DevicePlan plan_devices(const std::filesystem::path& runtime) {
  Machine machine;
  machine.environment["LD_LIBRARY_PATH"] = text_of("LD_LIBRARY_PATH");
  switch (opencl_way(machine)) {
    case OpenClWay::Layer:
      return {{}, {{kLayers, behind(text_of(kLayers), runtime.string())}}};
    case OpenClWay::Preload:
      return {{preloadable(find_opencl_preload())}, {}};
    case OpenClWay::None:
      break;
  }
  return {};
}

}  // namespace prof
