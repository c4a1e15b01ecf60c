#include "prof/base/pfm.h"

#include <dlfcn.h>

#include <optional>

namespace prof {

namespace {

constexpr const char* kPfmLibrary = "libpfm.so.4";

template <typename Function>
bool find(void* library, const char* name, Function& out) {
  out = reinterpret_cast<Function>(dlsym(library, name));
  return out != nullptr;
}

std::optional<Pfm> load() {
  void* const library = dlopen(kPfmLibrary, RTLD_LAZY | RTLD_LOCAL);
  if (!library) return std::nullopt;
  decltype(&pfm_initialize) initialize = nullptr;
  Pfm pfm{};
  if (find(library, "pfm_initialize", initialize) && find(library, "pfm_get_version", pfm.get_version) &&
      find(library, "pfm_strerror", pfm.strerror) &&
      find(library, "pfm_get_os_event_encoding", pfm.get_os_event_encoding) &&
      find(library, "pfm_get_pmu_info", pfm.get_pmu_info) &&
      find(library, "pfm_get_event_next", pfm.get_event_next) &&
      find(library, "pfm_get_event_info", pfm.get_event_info) && initialize() == PFM_SUCCESS)
    return pfm;
  dlclose(library);
  return std::nullopt;
}

}  // namespace

const Pfm* find_pfm() {
  static const std::optional<Pfm> pfm = load();
  return pfm ? &*pfm : nullptr;
}

}  // namespace prof
