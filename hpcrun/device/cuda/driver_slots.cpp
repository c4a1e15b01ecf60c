#include "hpcrun/device/cuda/driver_slots.h"

#include <dlfcn.h>
#include <string.h>

#include <atomic>

#include "hpcrun/guest/import_slots.h"

namespace hpcrun::cuda {

namespace {

constexpr const char* kOwnLibraries[] = {"libcuda.so", "libcupti", "libnvidia-"};

bool begins_with(const char* text, const char* beginning) noexcept {
  return strncmp(text, beginning, strlen(beginning)) == 0;
}

const char* file_name(const char* path) noexcept {
  const char* const slash = path ? strrchr(path, '/') : nullptr;
  return slash ? slash + 1 : path ? path : "";
}

bool is_own(const dl_phdr_info& module) noexcept {
  for (const char* name : kOwnLibraries)
    if (begins_with(file_name(module.dlpi_name), name)) return true;
  return false;
}

struct Substitution {
  Substitute substitute = nullptr;
  unsigned long long adds = 0;  // the loader's count when modules were last scanned
};

// For the driver's functions, and for the functions that look them up.
constexpr size_t kMaxSubstitutions = 2;
constinit Substitution substitutions[kMaxSubstitutions];
constinit std::atomic_flag busy;

Substitution* substitution_of(Substitute substitute) noexcept {
  for (Substitution& one : substitutions) {
    if (!one.substitute) one.substitute = substitute;
    if (one.substitute == substitute) return &one;
  }
  return nullptr;
}

struct Visit {
  Substitution& what;
  bool is_first;
};

int visit_module(dl_phdr_info* info, size_t, void* raw) noexcept {
  Visit& visit = *static_cast<Visit*>(raw);
  if (visit.is_first) {
    if (info->dlpi_adds == visit.what.adds) return 1;
    visit.what.adds = info->dlpi_adds;
    visit.is_first = false;
  }
  if (!has_import_slots(*info) || is_own(*info)) return 0;
  ImportSlots imports(*info);
  imports.for_each([&](void** slot, const char* name) {
    void* const ours = visit.what.substitute(name);
    if (ours && *slot != ours) imports.write(slot, ours);
  });
  return 0;
}

}  // namespace

void substitute_imports(Substitute substitute) noexcept {
  // Another thread is doing this, possibly waiting for the loader, and handles the rest.
  if (busy.test_and_set(std::memory_order_acquire)) return;
  if (Substitution* const what = substitution_of(substitute)) {
    Visit visit{*what, true};
    dl_iterate_phdr(visit_module, &visit);
  }
  busy.clear(std::memory_order_release);
}

bool is_of_driver(const void* code) noexcept {
  dl_find_object found;
  if (_dl_find_object(const_cast<void*>(code), &found) != 0 || !found.dlfo_link_map) return false;
  return begins_with(file_name(found.dlfo_link_map->l_name), kOwnLibraries[0]);
}

}  // namespace hpcrun::cuda
