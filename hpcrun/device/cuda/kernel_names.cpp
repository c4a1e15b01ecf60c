#include "hpcrun/device/cuda/kernel_names.h"

#include <string.h>

#include <new>

#include "hpcrun/guest/arena.h"
#include "hpcrun/guest/handle_table.h"
#include "hpcrun/guest/spin_lock.h"

namespace hpcrun::cuda {

namespace {

constinit SpinLock lock;  // guards the two below
constinit Arena arena;
constinit HandleTable names;

const char* known_name(const void* kernel) noexcept {
  const Locked locked(lock);
  return static_cast<const char*>(names.find(kernel));
}

const char* ask_driver(CUfunction kernel) noexcept {
  const char* name = nullptr;
  if (driver.function_name && driver.function_name(&name, kernel) == CUDA_SUCCESS) return name;
  if (driver.kernel_name && driver.kernel_name(&name, reinterpret_cast<CUkernel>(kernel)) == CUDA_SUCCESS)
    return name;
  return nullptr;
}

}  // namespace

void note_kernel(const void* kernel, const char* name) noexcept {
  if (!kernel || !name) return;
  const size_t bytes = strlen(name) + 1;
  const Locked locked(lock);
  // A module that was unloaded may have had another kernel at this address.
  if (const auto* known = static_cast<const char*>(names.find(kernel)); known && strcmp(known, name) == 0)
    return;
  auto* const copy = static_cast<char*>(arena.allocate(bytes));
  if (!copy) return;
  memcpy(copy, name, bytes);
  names.put(kernel, copy);
}

const char* name_of_kernel(CUfunction kernel) noexcept {
  if (const char* known = known_name(kernel)) return known;
  note_kernel(kernel, ask_driver(kernel));
  return known_name(kernel);
}

void reset_kernels_after_fork() noexcept {
  new (&lock) SpinLock;
  arena = Arena{};  // its memory was not copied
  names.reset_after_fork();
}

}  // namespace hpcrun::cuda
