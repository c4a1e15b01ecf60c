#include "prof/launch/cuda_libraries.h"

#include <fmt/format.h>

namespace prof {

bool follows_cuda() {
#ifdef PROF_HAVE_CUDA
  return true;
#else
  return false;
#endif
}

std::filesystem::path cupti_library(const MachineFiles& machine) {
  if (const std::string asked = machine.variable("PROF_CUPTI"); !asked.empty())
    return machine.exists(asked) ? asked : std::string{};
  for (const int version : {13, 12}) {
    const std::string name = fmt::format("libcupti.so.{}", version);
    if (const std::filesystem::path path = machine.library(name); !path.empty()) return path;
    for (const std::string& toolkit :
         {machine.variable("CUDA_HOME"), machine.variable("CUDA_PATH"), std::string("/usr/local/cuda")}) {
      if (toolkit.empty()) continue;
      for (const char* below : {"extras/CUPTI/lib64", "lib64", "lib"})
        if (const std::string path = fmt::format("{}/{}/{}", toolkit, below, name); machine.exists(path))
          return path;
    }
  }
  return {};
}

}  // namespace prof
