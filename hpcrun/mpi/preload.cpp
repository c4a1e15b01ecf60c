// libhpcrun-mpi.so: in front of MPI_Init, where a launcher has not told which of how many ranks a process is:
// MPI itself is asked, when it knows. Only `prof run` of such ranks preloads it (prof/parallel_job.h). What
// MPI_COMM_WORLD is depends on the library: of Open MPI a variable, of MPICH and what has its ABI
// (https://www.mpich.org/abi/) a number. Other libraries are not asked.

#include <link.h>
#include <string.h>

#include <type_traits>

#include "hpcrun/guest/behind.h"
#include "hpcrun/guest/module_function.h"
#include "hpcrun/mpi/rank.h"

using namespace hpcrun;

namespace {

// A function or variable of the MPI library that the caller's library has, or, where it came by a jump from
// one that nobody knows any more, of the first library that has one.
class MpiSymbol {
 public:
  constexpr explicit MpiSymbol(const char* name) : name_(name), symbol_(name) {}

  void* get(const void* caller) noexcept {
    if (void* const found = symbol_.get(caller)) return found;
    Search search{name_, nullptr};
    dl_iterate_phdr(look_in, &search);
    return search.found;
  }

 private:
  struct Search {
    const char* name;
    void* found;
  };

  static int look_in(dl_phdr_info* module, size_t, void* raw) noexcept {
    Search& search = *static_cast<Search*>(raw);
    void* const handle = dlopen(module->dlpi_name, RTLD_LAZY | RTLD_NOLOAD);
    void* const found = handle ? dlsym(handle, search.name) : nullptr;
    if (!found) dlerror();
    if (handle) dlclose(handle);
    Dl_info library;
    if (found && dladdr(found, &library) && library.dli_fbase != own_base()) search.found = found;
    return search.found != nullptr;
  }

  static const void* own_base() noexcept {
    Dl_info library;
    return dladdr(reinterpret_cast<const void*>(&look_in), &library) ? library.dli_fbase : nullptr;
  }

  const char* name_;
  ModuleFunction symbol_;
};

constexpr int kSuccess = 0;
constexpr uintptr_t kWorldOfMpich = 0x44000000;
constexpr int kMostVersionBytes = 8192;  // MPI_MAX_LIBRARY_VERSION_STRING, the larger of the two

MpiSymbol get_version("PMPI_Get_library_version");
MpiSymbol comm_rank("PMPI_Comm_rank");
MpiSymbol comm_size("PMPI_Comm_size");
MpiSymbol world_of_open_mpi("ompi_mpi_comm_world");

bool has_abi_of_mpich(const char* version) noexcept {
  for (const char* name : {"MPICH", "Intel(R) MPI", "MVAPICH"})
    if (strstr(version, name)) return true;
  return false;
}

// nullptr: not known.
void* world_of(const char* version, const void* caller) noexcept {
  if (strstr(version, "Open MPI")) return world_of_open_mpi.get(caller);
  return has_abi_of_mpich(version) ? reinterpret_cast<void*>(kWorldOfMpich) : nullptr;
}

void ask(const void* caller) noexcept {
  using GetVersion = int (*)(char*, int*);
  using Ask = int (*)(void*, int*);
  const auto version_of = reinterpret_cast<GetVersion>(get_version.get(caller));
  const auto rank_in = reinterpret_cast<Ask>(comm_rank.get(caller));
  const auto size_of = reinterpret_cast<Ask>(comm_size.get(caller));
  if (!version_of || !rank_in || !size_of || !hpcrun_set_rank) return;
  static char version[kMostVersionBytes];
  int length = 0, rank = -1, ranks = 0;
  if (version_of(version, &length) != kSuccess) return;
  void* const world = world_of(version, caller);
  if (!world || rank_in(world, &rank) != kSuccess || size_of(world, &ranks) != kSuccess) return;
  if (rank >= 0 && rank < ranks) hpcrun_set_rank(rank, ranks);
}

// MPI_ERR_OTHER, of a library that is not there: nobody can have called what nothing defines.
constexpr int kNoLibrary = 15;

template <typename Result, typename... Arguments>
Result initialise(MpiSymbol& function, const void* caller, Arguments... arguments) {
  const auto behind = reinterpret_cast<Result (*)(Arguments...)>(function.get(caller));
  if constexpr (std::is_void_v<Result>) {
    if (behind) behind(arguments...);
    ask(caller);
  } else {
    const Result result = behind ? behind(arguments...) : kNoLibrary;
    if (result == kSuccess) ask(caller);
    return result;
  }
}

#define HPCRUN_INITIALISES(result, name, parameters, ...)                                        \
  static MpiSymbol hpcrun_function_##name(#name);                                                \
  HPCRUN_EXPORT result name parameters {                                                         \
    return initialise<result>(hpcrun_function_##name, __builtin_return_address(0), __VA_ARGS__); \
  }                                                                                              \
  static_assert(true) /* takes the semicolon */

}  // namespace

HPCRUN_INITIALISES(int, MPI_Init, (int* count, char*** words), count, words);
HPCRUN_INITIALISES(int, MPI_Init_thread, (int* count, char*** words, int required, int* provided), count,
                   words, required, provided);
// Fortran's, as gfortran, flang and ifort call them.
HPCRUN_INITIALISES(void, mpi_init_, (int* error), error);
HPCRUN_INITIALISES(void, mpi_init_f08_, (int* error), error);
HPCRUN_INITIALISES(void, mpi_init_thread_, (int* required, int* provided, int* error), required, provided,
                   error);
HPCRUN_INITIALISES(void, mpi_init_thread_f08_, (int* required, int* provided, int* error), required, provided,
                   error);
