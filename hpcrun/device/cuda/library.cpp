#include "hpcrun/device/cuda/library.h"

#include <dlfcn.h>
#include <link.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

namespace hpcrun::cuda {

constinit CuptiFunctions cupti{};
constinit DriverFunctions driver{};

namespace {

// Records have other layouts before 12.0, and may have after 13.
constexpr uint32_t kOldestVersion = 18;
constexpr uint32_t kFirstUnknownVersion = 140000;

constexpr size_t kPathBytes = sizeof CuptiLibrary::path;

// In the order of trying, after the driver's own.
constexpr int kMajorVersions[] = {13, 12};

// Locations in toolkits and Python packages, relative to the toolkit's folder and to that of libcudart.so.
constexpr const char* kBelowToolkit[] = {"extras/CUPTI/lib64", "lib64", "lib"};
constexpr const char* kBesideRuntime[] = {".", "../extras/CUPTI/lib64", "../../../extras/CUPTI/lib64",
                                          "../../cuda_cupti/lib"};

template <typename Function>
bool find(void* library, const char* name, Function& out) noexcept {
  out = reinterpret_cast<Function>(dlsym(library, name));
  return out != nullptr;
}

void* open_in(const char* folder, const char* below, int major, char (&path)[kPathBytes]) noexcept {
  if (!folder || !*folder) return nullptr;
  const int length = snprintf(path, sizeof path, "%s/%s/libcupti.so.%d", folder, below, major);
  return length > 0 && length < static_cast<int>(sizeof path) ? dlopen(path, RTLD_NOW | RTLD_LOCAL) : nullptr;
}

// Finds the folder of the program's libcudart.so. Python packages keep it outside the dynamic linker's paths.
int note_runtime(dl_phdr_info* info, size_t, void* out) noexcept {
  const char* const slash = info->dlpi_name ? strrchr(info->dlpi_name, '/') : nullptr;
  if (!slash || strncmp(slash + 1, "libcudart.so", sizeof "libcudart.so" - 1) != 0) return 0;
  const auto length = static_cast<size_t>(slash - info->dlpi_name);
  if (length >= kPathBytes) return 0;
  memcpy(out, info->dlpi_name, length);
  static_cast<char*>(out)[length] = '\0';
  return 1;
}

void* open_version(int major, char (&path)[kPathBytes]) noexcept {
  char name[32];
  snprintf(name, sizeof name, "libcupti.so.%d", major);
  if (void* library = dlopen(name, RTLD_NOW | RTLD_NOLOAD)) return library;
  if (void* library = dlopen(name, RTLD_NOW | RTLD_LOCAL)) return library;
  char runtime[kPathBytes] = "";
  if (dl_iterate_phdr(note_runtime, runtime))
    for (const char* below : kBesideRuntime)
      if (void* library = open_in(runtime, below, major, path)) return library;
  const char* const toolkits[] = {getenv("CUDA_HOME"), getenv("CUDA_PATH"), "/usr/local/cuda"};
  for (const char* folder : toolkits)
    for (const char* below : kBelowToolkit)
      if (void* library = open_in(folder, below, major, path)) return library;
  return nullptr;
}

void* open_any(char (&path)[kPathBytes]) noexcept {
  if (const char* asked = getenv("PROF_CUPTI"); asked && *asked) {
    snprintf(path, sizeof path, "%s", asked);
    return dlopen(asked, RTLD_NOW | RTLD_LOCAL);
  }
  int version = 0;
  if (driver.driver_version) driver.driver_version(&version);
  const int own = version / 1000;
  for (const int major : kMajorVersions)
    if (major == own)
      if (void* library = open_version(major, path)) return library;
  for (const int major : kMajorVersions)
    if (major != own)
      if (void* library = open_version(major, path)) return library;
  return nullptr;
}

bool find_functions(void* library) noexcept {
  bool all = true;
#define HPCRUN_CUPTI_FIND(name) all = find(library, #name, cupti.name) && all;
  HPCRUN_CUPTI_FUNCTIONS(HPCRUN_CUPTI_FIND)
#undef HPCRUN_CUPTI_FIND
  find(library, "cuptiSubscribe_v2", cupti.subscribe_v2);
  find(library, "cuptiActivityRegisterTimestampCallback", cupti.register_timestamp_callback);
  find(library, "cuptiActivityFlushPeriod", cupti.flush_period);
  return all;
}

}  // namespace

void* load_driver() noexcept {
  void* const library = dlopen("libcuda.so.1", RTLD_NOW | RTLD_NOLOAD);
  if (!library) {
    dlerror();  // the program must not see our errors
    return nullptr;
  }
#define HPCRUN_DRIVER_FIND(member, type, symbol) find(library, symbol, driver.member);
  HPCRUN_DRIVER_FUNCTIONS(HPCRUN_DRIVER_FIND)
#undef HPCRUN_DRIVER_FIND
  if (!driver.device_uuid) find(library, "cuDeviceGetUuid", driver.device_uuid);
  if (!driver.event_elapsed) find(library, "cuEventElapsedTime", driver.event_elapsed);
  dlerror();
  return driver.device_get && driver.device_name && driver.device_uuid && driver.driver_version ? library
                                                                                                : nullptr;
}

void load_cupti(CuptiLibrary& out) noexcept {
  out = {CuptiState::Missing, 0, ""};
  void* const library = open_any(out.path);
  if (library) {
    link_map* map = nullptr;
    if (dlinfo(library, RTLD_DI_LINKMAP, &map) == 0 && map)
      snprintf(out.path, sizeof out.path, "%s", map->l_name);
    const bool is_whole = find_functions(library);
    if (cupti.cuptiGetVersion) cupti.cuptiGetVersion(&out.version);
    if (out.version && out.version < kOldestVersion)
      out.state = CuptiState::TooOld;
    else if (out.version >= kFirstUnknownVersion)
      out.state = CuptiState::TooNew;
    else
      out.state = is_whole ? CuptiState::Ready : CuptiState::Incomplete;
  }
  dlerror();
}

}  // namespace hpcrun::cuda
