#include "prof/launch/devices.h"

#include <cstdlib>

#include "prof/base/message.h"
#include "prof/launch/cuda_libraries.h"

namespace prof {

namespace {

constexpr const char* kLayers = "OPENCL_LAYERS";
constexpr const char* kInjection = "CUDA_INJECTION64_PATH";
constexpr const char* kMode = "PROF_CUDA_MODE";

std::string text_of(const char* variable) {
  const char* text = getenv(variable);
  return text ? text : "";
}

// Appends a layer. The last layer receives the program's calls first.
std::string behind(const std::string& present, const std::string& added) {
  return present.empty() ? added : present + ":" + added;
}

void plan_opencl(const DeviceSurroundings& surroundings, const std::filesystem::path& runtime,
                 const std::filesystem::path& opencl_preload, DevicePlan& plan) {
  switch (surroundings.opencl) {
    case OpenClWay::Layer:
      plan.environment.emplace_back(kLayers, behind(surroundings.opencl_layers, runtime.string()));
      return;
    case OpenClWay::Preload:
      plan.preload.push_back(opencl_preload);
      return;
    case OpenClWay::None:
      return;
  }
}

// The driver loads one library only.
void plan_cuda(const DeviceSurroundings& surroundings, const std::filesystem::path& runtime, DevicePlan& plan,
               Notes& notes) {
  if (!surroundings.has_cuda) return;
  if (const std::string& mode = surroundings.cuda_mode; !mode.empty() && mode != "events" && mode != "cupti")
    fail(kOwnFailure, "{} is {}; set it to events or cupti, or unset it", kMode, mode);
  const std::string& users = surroundings.cuda_injection;
  if (!users.empty() && users != runtime.string())
    return notes.remark(
        "{} is set ({}), and CUDA's driver loads only one such library: CUDA programs are not traced; unset "
        "it to trace them",
        kInjection, users);
  plan.environment.emplace_back(kInjection, runtime.string());
}

}  // namespace

DeviceSurroundings device_surroundings() {
  MachineFiles machine;
  machine.environment["LD_LIBRARY_PATH"] = text_of("LD_LIBRARY_PATH");
  return {opencl_way(machine), text_of(kLayers), follows_cuda(), text_of(kMode), text_of(kInjection)};
}

DevicePlan plan_devices(const DeviceSurroundings& surroundings, const std::filesystem::path& runtime,
                        const std::filesystem::path& opencl_preload, Notes& notes) {
  DevicePlan plan;
  plan_opencl(surroundings, runtime, opencl_preload, plan);
  plan_cuda(surroundings, runtime, plan, notes);
  return plan;
}

}  // namespace prof
