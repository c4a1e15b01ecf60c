#include "analysis/views/run/team_waits.h"

#include "analysis/words/numbers.h"

namespace prof {
namespace {

// "libgomp.so.1", and "libgomp-a34b3233.so.1" as wheels of Python have it, but not "libgompertz.so".
bool is_library(std::string_view file, std::string_view name) {
  return file.starts_with(name) && file.size() > name.size() &&
         (file[name.size()] == '.' || file[name.size()] == '-');
}

// The functions of libgomp for `omp target`: the device waits for them.
bool offloads(std::string_view file, std::string_view function) {
  if (file.starts_with("libgomp-plugin-")) return true;
  for (const std::string_view begin : {"GOMP_target", "GOMP_OFFLOAD", "gomp_map", "gomp_unmap", "gomp_copy"})
    if (function.starts_with(begin)) return true;
  return false;
}

}  // namespace

bool waits_in_team(const std::string& module_path, std::string_view function) {
  const std::string file = base_name(module_path);
  // Parallel loops are functions of the program: the code of these libraries only waits and distributes work.
  for (const std::string_view runtime : {"libgomp", "libomp", "libiomp5"})
    if (is_library(file, runtime)) return !offloads(file, function);
  return function == "blas_thread_server" || function == "exec_blas_async_wait";
}

bool waits_for_ranks(std::string_view function) {
  const bool is_fortran = function.ends_with('_');
  for (const std::string_view prefix : {"MPI_", "PMPI_", "mpi_", "pmpi_"}) {
    if (!function.starts_with(prefix) || (prefix.front() >= 'a' && !is_fortran)) continue;
    const std::string_view call = function.substr(prefix.size());
    // Starting and reading or writing files take time without other ranks.
    return !call.starts_with("Init") && !call.starts_with("init") && !call.starts_with("File_") &&
           !call.starts_with("file_");
  }
  return false;
}

bool is_c_library(const std::string& module_path) {
  const std::string file = base_name(module_path);
  return is_library(file, "libc") || is_library(file, "libpthread");
}

}  // namespace prof
