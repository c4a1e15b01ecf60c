#pragma once
#include <filesystem>
#include <string>

namespace prof {

// libhpcrun.so beside this `prof`, in the build folder or an installation. Throws CommandError (125).
std::filesystem::path find_runtime_library();

// hpcrun-exec, which the runtime has started in the place of some programs (hpcrun/process/outside_exec.cpp).
std::filesystem::path find_outside_exec();

// prof-viewer, which may not be there (prof/commands/view.cpp).
std::filesystem::path find_viewer();

// libhpcrun-opencl.so, for loaders of OpenCL without layers (hpcrun/device/opencl/preload.cpp).
std::filesystem::path find_opencl_preload();

// libhpcrun-memory.so, which sees the program's allocations (hpcrun/memory/preload).
std::filesystem::path find_memory_preload();

// libhpcrun-sync.so, in front of locks (hpcrun/sync/preload).
std::filesystem::path find_sync_preload();

// The one in front of MPI_Init (hpcrun/mpi), beside the runtime.
std::filesystem::path find_mpi_preload();

// libhpcrun-isolate.so, which makes the program's memory common (repair/isolate/preload).
std::filesystem::path find_isolate_preload();

// The allocator that programs with common memory get (jemalloc, which keeps nothing of its own in free
// blocks), in LD_LIBRARY_PATH or where systems have it; empty if it is not installed.
constexpr char kIsolatingAllocator[] = "libjemalloc.so.2";
std::filesystem::path find_isolating_allocator();

// prof-regions.so, the plugin of clang by which `prof cc` annotates code (repair/isolate/pass). Throws
// CommandError (125) where prof was built without it.
std::filesystem::path find_regions_plugin();

// The inode of this process's mount namespace, as PROF_MOUNTS has it (hpcrun/sample/config.h); "0": not
// known.
std::string own_mount_namespace();

// A path to the library that the loader takes as one entry of LD_PRELOAD, whose entries end at spaces and
// colons: the library's own, or a link in a folder of the user's below the folder for temporary files. The
// link stays: processes that outlive `prof` execute programs with it. Throws CommandError (125).
std::filesystem::path preloadable(const std::filesystem::path& library);

}  // namespace prof
