#include "analysis/views/ranks/rank_locations.h"

#include <string>
#include <vector>

#include "analysis/stalls/barriers.h"
#include "analysis/views/tree/program_lines.h"

namespace prof {
namespace {

using Patterns = std::vector<std::string>;

const Patterns& start_calls() {
  static const Patterns kCalls = {"MPI_Init*", "PMPI_Init*", "mpi_init*_", "pmpi_init*_"};
  return kCalls;
}

const Patterns& file_calls() {
  static const Patterns kCalls = {
      "MPI_File_*",   "PMPI_File_*", "mpi_file_*_", "pmpi_file_*_", "read",      "write",      "pread",
      "pwrite",       "pread64",     "pwrite64",    "readv",        "writev",    "preadv",     "pwritev",
      "open",         "open64",      "openat",      "openat64",     "fsync",     "fdatasync",  "fread",
      "fwrite",       "fopen",       "fopen64",     "fclose",       "fflush",    "getline",    "fgets",
      "fputs",        "ftruncate",   "rename",      "unlink",       "libc_read", "libc_write", "libc_pread*",
      "libc_pwrite*", "libc_open*",  "libc_fsync",  "H5D*",         "nc_*"};
  return kCalls;
}

const Patterns& communication_calls() {
  static const Patterns kCalls = {"MPI_*", "PMPI_*",  "mpi_*_",  "pmpi_*_",
                                  "nccl*", "gloo::*", "shmem_*", "upc_barrier*"};
  return kCalls;
}

const Patterns& device_calls() {
  static const Patterns kCalls = {
      "cudaDeviceSynchronize*", "cudaStreamSynchronize*", "cudaEventSynchronize*", "cudaMemcpy*",
      "cudaMemset*", "cudaFree*", "cuCtxSynchronize*", "cuStreamSynchronize*", "cuEventSynchronize*",
      "cuMemcpy*", "cuMemset*", "cuMemFree*", "hipDeviceSynchronize", "hipStreamSynchronize*",
      "hipEventSynchronize", "hipMemcpy*", "hipMemset*", "hipFree*", "clFinish", "clWaitForEvents",
      "clEnqueue*Buffer*",
      // Functions that initialize devices.
      "cuInit", "cuCtxCreate*", "cuDevicePrimaryCtxRetain", "cudaSetDevice", "cudaInitDevice", "hipInit",
      "hipSetDevice", "hipCtxCreate", "hipDevicePrimaryCtxRetain", "clGetPlatformIDs", "clGetDeviceIDs",
      "clCreateContext*"};
  return kCalls;
}

bool has_own_line(const Database& database, const Function& function) {
  if (function.file == kNone || function.line == 0 || is_system_module(database, function.module))
    return false;
  const std::string& file = database.files[function.file].path;
  return !file.starts_with("/usr/include/") && !file.starts_with("/usr/lib/");
}

}  // namespace

RankLocations::RankLocations(const Database& database)
    : database_(database), location_of_(database_.contexts.size()) {
  const std::vector<bool> starts = contexts_in(database_, start_calls()),
                          files = contexts_in(database_, file_calls()),
                          communicates = contexts_in(database_, communication_calls()),
                          devices = contexts_in(database_, device_calls()),
                          threads = contexts_in(database_, known_barriers());
  struct Step {
    // Functions: of the program with lines, of the program, of any module; and the callee.
    uint32_t with_line = kNone, caller = kNone, own = kNone, innermost = kNone, call = kNone;
    RankActivity activity = RankActivity::Compute;
  };
  std::vector<Step> steps(database_.contexts.size());
  for (uint32_t c = 0; c < steps.size(); ++c) {
    const Context& context = database_.contexts[c];
    Step& step = steps[c];
    if (context.parent != kNone) step = steps[context.parent];
    const RankActivity above = step.activity;
    step.activity = starts[c]         ? RankActivity::Start
                    : files[c]        ? RankActivity::Io
                    : communicates[c] ? RankActivity::Communication
                    : devices[c]      ? RankActivity::Device
                    : threads[c]      ? RankActivity::Threads
                                      : RankActivity::Compute;
    // Functions that MPI or a device's library calls count as the library's: cuInit opens files.
    if ((above == RankActivity::Communication || above == RankActivity::Device) && !starts[c])
      step.activity = above;
    if (context.kind == ContextKind::Function && context.function != kNone) {
      step.innermost = context.function;
      if (step.activity == RankActivity::Compute) {
        step.call = kNone;
        const Function& function = database_.functions[context.function];
        if (has_own_line(database_, function) && step.with_line != context.function) {
          step.caller = step.with_line;
          step.with_line = context.function;
        }
        if (!is_system_module(database_, function.module)) step.own = context.function;
      } else if (step.activity != above) {
        step.call = context.function;
      }
    }
    const uint32_t program = step.with_line != kNone ? step.with_line
                             : step.own != kNone     ? step.own
                                                     : step.innermost;
    location_of_[c] = number_of({step.activity, program, step.caller, step.call, kNone});
  }
}

std::vector<uint32_t> RankLocations::ready_code() const {
  std::vector<uint32_t> ready(location_of_.size());
  for (uint32_t c = 0; c < ready.size(); ++c) {
    const Context& context = database_.contexts[c];
    if (context.kind == ContextKind::Function && context.function != kNone)
      ready[c] = !is_system_module(database_, database_.functions[context.function].module);
    else if (context.parent != kNone)
      ready[c] = ready[context.parent];
    if (activity(location_of_[c]) != RankActivity::Compute) ready[c] = 0;
  }
  return ready;
}

void RankLocations::find_dearest_contexts(const CallTree& tree) {
  std::vector<double> most(locations_.size(), -1);
  for (uint32_t c = 0; c < location_of_.size(); ++c) {
    if (tree.metrics() == 0) return;
    const double cost = tree.by_context[0][c].exclusive;
    if (cost < most[location_of_[c]]) continue;  // of a function and its line the line
    most[location_of_[c]] = cost;
    locations_[location_of_[c]].context = c;
  }
}

uint32_t RankLocations::number_of(const RankLocation& location) {
  const auto [at, is_new] =
      numbers_.try_emplace(std::tuple(location.activity, location.function, location.caller, location.call),
                           static_cast<uint32_t>(locations_.size()));
  if (is_new) locations_.push_back(location);
  return at->second;
}

}  // namespace prof
