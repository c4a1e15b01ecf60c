#include "prof/base/runtime_library.h"

#include <fmt/format.h>
#include <sys/auxv.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cstdlib>
#include <sstream>
#include <string>
#include <vector>

#include "prof/base/message.h"

namespace prof {

namespace fs = std::filesystem;

namespace {

constexpr const char* kRuntime = "libprof-runtime.so";
constexpr const char* kOutsideExec = "hpcrun-exec";              // in the same folder
constexpr const char* kViewer = "prof-viewer";                   // likewise
constexpr const char* kOpenClPreload = "libprof-opencl.so";      // likewise
constexpr const char* kMemoryPreload = "libprof-heap.so";        // likewise
constexpr const char* kSyncPreload = "libprof-locks.so";         // likewise
constexpr const char* kMpiPreload = "libprof-mpi.so";            // likewise
constexpr const char* kIsolatePreload = "libprof-isolate.so";    // likewise
constexpr const char* kExactTool = "profexact-amd64-linux";      // likewise
constexpr const char* kRegionsPlugin = "prof-regions.so";        // likewise

bool one_preload_entry(const fs::path& path) {
  return path.native().find_first_of(" :$") == std::string::npos;
}

// True if no other user can replace files in the folder. Other files must not be loaded into a program.
bool only_ours(const fs::path& folder) {
  struct stat status {};
  return lstat(folder.c_str(), &status) == 0 && S_ISDIR(status.st_mode) && status.st_uid == geteuid() &&
         (status.st_mode & (S_IWGRP | S_IWOTH)) == 0;
}

// Two processes may make it at once: the second finds it made.
bool make_folder(const fs::path& folder) {
  mkdir(folder.c_str(), 0755);
  return only_ours(folder);
}

bool make_link(const fs::path& target, const fs::path& link) {
  std::error_code error;
  if (fs::read_symlink(link, error) == target) return true;
  const fs::path fresh = fmt::format("{}.{}", link.string(), getpid());
  fs::create_symlink(target, fresh, error);
  if (!error) fs::rename(fresh, link, error);
  return !error;
}

// Returns the folders that the loader searches for a library, the user's own first.
std::vector<fs::path> library_folders() {
  std::vector<fs::path> folders;
  std::istringstream own(getenv("LD_LIBRARY_PATH") ? getenv("LD_LIBRARY_PATH") : "");
  for (std::string folder; std::getline(own, folder, ':');)
    if (!folder.empty()) folders.push_back(fs::absolute(folder));
  folders.insert(folders.end(), {"/usr/lib/x86_64-linux-gnu", "/lib/x86_64-linux-gnu", "/usr/lib64",
                                 "/usr/local/lib", "/usr/lib"});
  return folders;
}

}  // namespace

fs::path find_runtime_library() {
  std::error_code error;
  fs::path self = fs::read_symlink("/proc/self/exe", error);
  if (error) self = fs::canonical(reinterpret_cast<const char*>(getauxval(AT_EXECFN)), error);  // no /proc
  const fs::path prefix = self.parent_path().parent_path();
  for (const char* folder : {PROF_LIBRARY_FOLDER, "lib"}) {
    const fs::path library = prefix / folder / kRuntime;
    if (fs::exists(library, error)) return library;
  }
  fail(kOwnFailure, "{} is missing from {}; build or install all of prof", kRuntime,
       (prefix / PROF_LIBRARY_FOLDER).string());
}

fs::path find_outside_exec() {
  return find_runtime_library().parent_path() / kOutsideExec;
}

fs::path find_viewer() {
  return find_runtime_library().parent_path() / kViewer;
}

fs::path find_opencl_preload() {
  return find_runtime_library().parent_path() / kOpenClPreload;
}

fs::path find_memory_preload() {
  return find_runtime_library().parent_path() / kMemoryPreload;
}

fs::path find_sync_preload() {
  return find_runtime_library().parent_path() / kSyncPreload;
}

fs::path find_mpi_preload() {
  return find_runtime_library().parent_path() / kMpiPreload;
}

fs::path find_isolate_preload() {
  return find_runtime_library().parent_path() / kIsolatePreload;
}

fs::path find_isolating_allocator() {
  std::error_code error;
  for (const fs::path& folder : library_folders())
    if (fs::path library = folder / kIsolatingAllocator; fs::exists(library, error)) return library;
  return {};
}

fs::path find_exact_tool() {
  const fs::path tool = find_runtime_library().parent_path() / kExactTool;
  std::error_code error;
  if (fs::exists(tool, error)) return tool;
  fail(kOwnFailure,
       "prof was built without Valgrind 3.19, which `prof exact` needs; install the package valgrind and "
       "rebuild prof");
}

fs::path find_regions_plugin() {
  const fs::path plugin = find_runtime_library().parent_path() / kRegionsPlugin;
  std::error_code error;
  if (fs::exists(plugin, error)) return plugin;
  fail(kOwnFailure,
       "prof was built without LLVM 14, which `prof cc` needs; install llvm-14-dev and rebuild prof");
}

fs::path preloadable(const fs::path& library) {
  if (one_preload_entry(library)) return library;
  std::error_code error;
  const fs::path folder = fs::temp_directory_path(error) / fmt::format("prof-{}", geteuid());
  const fs::path place = folder / fmt::format("{:016x}", std::hash<std::string>{}(library.native()));
  if (!error && one_preload_entry(folder) && make_folder(folder) && make_folder(place) &&
      make_link(library, place / library.filename()))
    return place / library.filename();
  fail(kOwnFailure,
       "the path {} contains a space or colon, so it cannot be preloaded, and {} cannot hold a link to it; "
       "move prof, or set TMPDIR to a folder that you can write to",
       library.string(), folder.string());
}

std::string own_mount_namespace() {
  struct stat status {};
  return std::to_string(stat("/proc/self/ns/mnt", &status) == 0 ? status.st_ino : 0);
}

}  // namespace prof
