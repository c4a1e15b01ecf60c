#include "prof/devices.h"

#include <cstdlib>

#include "prof/doctor/cuda_libraries.h"
#include "prof/doctor/opencl_loader.h"
#include "prof/message.h"
#include "prof/runtime_library.h"

namespace prof {

namespace {

constexpr const char* kLayers = "OPENCL_LAYERS";
constexpr const char* kInjection = "CUDA_INJECTION64_PATH";
constexpr const char* kMode = "PROF_CUDA_MODE";

std::string text_of(const char* variable) {
  const char* text = getenv(variable);
  return text ? text : "";
}

// The last layer is the first that the program's calls come to.
std::string behind(const std::string& present, const std::string& added) {
  return present.empty() ? added : present + ":" + added;
}

void plan_opencl(const std::filesystem::path& runtime, DevicePlan& plan) {
  Machine machine;
  machine.environment["LD_LIBRARY_PATH"] = text_of("LD_LIBRARY_PATH");
  switch (opencl_way(machine)) {
    case OpenClWay::Layer:
      plan.environment.emplace_back(kLayers, behind(text_of(kLayers), runtime.string()));
      return;
    case OpenClWay::Preload:
      plan.preload.push_back(preloadable(find_opencl_preload()));
      return;
    case OpenClWay::None:
      return;
  }
}

// The driver takes one library.
void plan_cuda(const std::filesystem::path& runtime, DevicePlan& plan) {
  if (!follows_cuda()) return;
  if (const std::string mode = text_of(kMode); !mode.empty() && mode != "events" && mode != "cupti")
    fail(kOwnFailure, "{} is {}: give events or cupti, or unset it", kMode, mode);
  const std::string users = text_of(kInjection);
  if (!users.empty() && users != runtime.string())
    return remark(
        "{} is set ({}), and CUDA's driver opens one such library: CUDA programs are not followed; unset it "
        "to "
        "follow them",
        kInjection, users);
  plan.environment.emplace_back(kInjection, runtime.string());
}

}  // namespace

DevicePlan plan_devices(const std::filesystem::path& runtime) {
  DevicePlan plan;
  plan_opencl(runtime, plan);
  plan_cuda(runtime, plan);
  return plan;
}

}  // namespace prof
