#include "prof/launch/opencl_loader.h"

#include <string>

namespace prof {

std::filesystem::path opencl_loader(const MachineFiles& machine) {
  return machine.library("libOpenCL.so.1");
}

OpenClWay opencl_way(const MachineFiles& machine) {
#ifdef PROF_HAVE_OPENCL
  const std::filesystem::path loader = opencl_loader(machine);
  if (loader.empty()) return OpenClWay::Layer;
  // A loader that reads the variable contains its name.
  const std::string code = machine.text(loader.native()).value_or("");
  return code.find("OPENCL_LAYERS") == code.npos ? OpenClWay::Preload : OpenClWay::Layer;
#else
  (void)machine;
  return OpenClWay::None;
#endif
}

}  // namespace prof
