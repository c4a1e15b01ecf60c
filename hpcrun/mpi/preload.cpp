// libprof-mpi.so: interposes on MPI_Init if the launcher does not give the rank and the number of ranks,
// and asks MPI once it is initialized. Only `prof run` of such ranks preloads it (prof/parallel_job.h).
// MPI_COMM_WORLD depends on the library: a variable in Open MPI, a number in MPICH and libraries with its ABI
// (https://www.mpich.org/abi/). Other libraries are not asked.

#include <link.h>
#include <string.h>

#include "hpcrun/interpose/module_function.h"
#include "hpcrun/interpose/next_function.h"
#include "hpcrun/mpi/rank.h"

using namespace hpcrun;

namespace {

// Names of the loaded files. They are copied, because nothing may be opened while they are listed.
class LoadedFiles {
 public:
  LoadedFiles() noexcept { dl_iterate_phdr(add, this); }

  // Calls use(name) for each until it returns true.
  template <typename Use>
  void until(Use use) const noexcept {
    for (size_t at = 0; at < used_; at += strlen(names_ + at) + 1)
      if (use(names_ + at)) return;
  }

 private:
  static int add(dl_phdr_info* module, size_t, void* raw) noexcept {
    auto& self = *static_cast<LoadedFiles*>(raw);
    const size_t bytes = strlen(module->dlpi_name) + 1;
    if (self.used_ + bytes > sizeof self.names_) return 1;
    memcpy(self.names_ + self.used_, module->dlpi_name, bytes);
    self.used_ += bytes;
    return 0;
  }

  size_t used_ = 0;
  char names_[32 * 1024];
};

const void* module_of(const void* address) noexcept {
  Dl_info library;
  return dladdr(address, &library) ? library.dli_fbase : nullptr;
}

void* symbol_in(const char* file, const char* name) noexcept {
  void* const handle = dlopen(file, RTLD_LAZY | RTLD_NOLOAD);
  void* const found = handle ? dlsym(handle, name) : nullptr;
  if (!found) dlerror();
  if (handle) dlclose(handle);
  return found;
}

// Finds a function of the MPI library in the scope of the caller's library. If the caller entered by a jump
// and is not known, finds it in the first library that has it.
class MpiFunction {
 public:
  constexpr explicit MpiFunction(const char* name) : name_(name), function_(name) {}

  void* get(const void* caller) noexcept {
    void* found = function_.get(caller);
    if (found) return found;
    const void* const own = module_of(reinterpret_cast<const void*>(&symbol_in));
    LoadedFiles().until([&](const char* file) {
      void* const here = symbol_in(file, name_);
      if (here && module_of(here) != own) found = here;
      return found != nullptr;
    });
    return found;
  }

 private:
  const char* name_;
  ModuleFunction function_;
};

constexpr int kSuccess = 0;
constexpr uintptr_t kWorldOfMpich = 0x44000000;
constexpr int kMaxVersionBytes = 8192;  // MPI_MAX_LIBRARY_VERSION_STRING, the larger of the two

MpiFunction get_version("PMPI_Get_library_version");
MpiFunction comm_rank("PMPI_Comm_rank");
MpiFunction comm_size("PMPI_Comm_size");

bool has_abi_of_mpich(const char* version) noexcept {
  for (const char* name : {"MPICH", "Intel(R) MPI", "MVAPICH"})
    if (strstr(version, name)) return true;
  return false;
}

// If a program refers to the variable, it is in the program and not in the library (copy relocation).
void* world_of_open_mpi(const char* file) noexcept {
  constexpr char kName[] = "ompi_mpi_comm_world";
  if (void* const found = dlsym(RTLD_DEFAULT, kName)) return found;
  dlerror();
  return symbol_in(file, kName);
}

// Returns MPI_COMM_WORLD, or nullptr if it is not known. The standard's own binary interface (libmpi_abi.so)
// has another number.
void* world_of(const char* version, const void* function) noexcept {
  Dl_info library;
  if (!dladdr(function, &library) || !library.dli_fname || strstr(library.dli_fname, "mpi_abi"))
    return nullptr;
  if (strstr(version, "Open MPI")) return world_of_open_mpi(library.dli_fname);
  return has_abi_of_mpich(version) ? reinterpret_cast<void*>(kWorldOfMpich) : nullptr;
}

void ask(const void* caller) noexcept {
  using GetVersion = int (*)(char*, int*);
  using Ask = int (*)(void*, int*);
  const auto version_of = reinterpret_cast<GetVersion>(get_version.get(caller));
  const auto rank_in = reinterpret_cast<Ask>(comm_rank.get(caller));
  const auto size_of = reinterpret_cast<Ask>(comm_size.get(caller));
  if (!version_of || !rank_in || !size_of || !hpcrun_set_rank) return;
  static char version[kMaxVersionBytes];
  int length = 0, rank = -1, ranks = 0;
  if (version_of(version, &length) != kSuccess) return;
  void* const world = world_of(version, reinterpret_cast<const void*>(rank_in));
  if (!world || rank_in(world, &rank) != kSuccess || size_of(world, &ranks) != kSuccess) return;
  if (rank >= 0 && rank < ranks) hpcrun_set_rank(rank, ranks);
}

// MPI_ERR_OTHER, if the library does not exist: no caller can have linked against it.
constexpr int kNoLibrary = 15;

template <typename... Arguments>
int initialise(MpiFunction& function, const void* caller, Arguments... arguments) {
  const auto behind = reinterpret_cast<int (*)(Arguments...)>(function.get(caller));
  const int result = behind ? behind(arguments...) : kNoLibrary;
  if (result == kSuccess) ask(caller);
  return result;
}

// The result is the last argument, which may be omitted.
template <typename... Arguments>
void initialise_fortran(MpiFunction& function, const void* caller, int* error, Arguments... arguments) {
  const auto behind = reinterpret_cast<void (*)(Arguments...)>(function.get(caller));
  if (!behind) return;
  behind(arguments...);
  if (!error || *error == kSuccess) ask(caller);
}

#define HPCRUN_MPI(name) static MpiFunction hpcrun_function_##name(#name)
#define HPCRUN_INITIALISES(name, parameters, ...)                                        \
  HPCRUN_MPI(name);                                                                      \
  HPCRUN_EXPORT int name parameters {                                                    \
    return initialise(hpcrun_function_##name, __builtin_return_address(0), __VA_ARGS__); \
  }                                                                                      \
  static_assert(true) /* takes the semicolon */
#define HPCRUN_FORTRAN_INITIALISES(name, parameters, ...)                                               \
  HPCRUN_MPI(name);                                                                                     \
  HPCRUN_EXPORT void name parameters {                                                                  \
    return initialise_fortran(hpcrun_function_##name, __builtin_return_address(0), error, __VA_ARGS__); \
  }                                                                                                     \
  static_assert(true)

}  // namespace

HPCRUN_INITIALISES(MPI_Init, (int* count, char*** words), count, words);
HPCRUN_INITIALISES(MPI_Init_thread, (int* count, char*** words, int required, int* provided), count, words,
                   required, provided);
// Names as called by gfortran, flang and ifort.
HPCRUN_FORTRAN_INITIALISES(mpi_init_, (int* error), error);
HPCRUN_FORTRAN_INITIALISES(mpi_init_f08_, (int* error), error);
HPCRUN_FORTRAN_INITIALISES(mpi_init_thread_, (int* required, int* provided, int* error), required, provided,
                           error);
HPCRUN_FORTRAN_INITIALISES(mpi_init_thread_f08_, (int* required, int* provided, int* error), required,
                           provided, error);
