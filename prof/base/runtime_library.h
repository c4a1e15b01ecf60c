#pragma once
#include <filesystem>
#include <string>

namespace prof {

// Returns libprof-runtime.so next to this `prof`, in the build folder or an installation. Throws CommandError
// (125).
std::filesystem::path find_runtime_library();

// Returns hpcrun-exec, which the runtime starts instead of some programs (hpcrun/process/outside_exec.cpp).
std::filesystem::path find_outside_exec();

// Returns prof-viewer, which may be missing (prof/commands/view.cpp).
std::filesystem::path find_viewer();

// Returns libprof-opencl.so, for OpenCL loaders without layers (hpcrun/device/opencl/preload.cpp).
std::filesystem::path find_opencl_preload();

// Returns libprof-heap.so, which intercepts the program's allocations (hpcrun/heap/preload).
std::filesystem::path find_memory_preload();

// Returns libprof-locks.so, which intercepts calls of locks (hpcrun/sync/preload).
std::filesystem::path find_sync_preload();

// Returns the library that intercepts MPI_Init (hpcrun/mpi), next to the runtime.
std::filesystem::path find_mpi_preload();

// Returns libprof-isolate.so, which makes the program's memory common (repair/isolate/preload).
std::filesystem::path find_isolate_preload();

// Returns the allocator for programs with common memory: jemalloc, which stores no data of its own in free
// blocks. It is searched in LD_LIBRARY_PATH and the system's library folders. Empty if it is not installed.
constexpr char kIsolatingAllocator[] = "libjemalloc.so.2";
std::filesystem::path find_isolating_allocator();

// Returns the Valgrind tool of `prof exact` (exact/valgrind), next to the runtime. Throws CommandError (125)
// if prof was built without it.
std::filesystem::path find_exact_tool();

// Returns prof-regions.so, the clang plugin with which `prof cc` annotates code (repair/isolate/pass). Throws
// CommandError (125) if prof was built without it.
std::filesystem::path find_regions_plugin();

// Returns the inode of this process's mount namespace, for PROF_MOUNTS (hpcrun/sample/config.h); "0" if not
// known.
std::string own_mount_namespace();

// Returns a path to the library that the loader takes as one entry of LD_PRELOAD, whose entries end at spaces
// and colons. It is the library's own path, or a link in a folder of the user's below the folder for
// temporary files. The link stays: processes that outlive `prof` execute programs with it. Throws
// CommandError (125).
std::filesystem::path preloadable(const std::filesystem::path& library);

}  // namespace prof
