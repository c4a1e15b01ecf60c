#include "analysis/attribution/module_file.h"

#include <fmt/format.h>
#include <fmt/printf.h>
#include <sys/auxv.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>

#include "analysis/attribution/debug_file.h"
#include "analysis/attribution/expanded_file.h"
#include "hpcrun/elf/headers.h"
#include "hpcrun/measurement/regular_file.h"

namespace prof {
namespace {

const Dwfl_Callbacks kCallbacks = {
    .find_elf = nullptr,
    .find_debuginfo = find_local_debug_file,
    .section_address = dwfl_offline_section_address,
    .debuginfo_path = nullptr,
};

// Returns a descriptor of this machine's vDSO, copied to memory that can be opened as a file; -1 if there is
// none.
int open_own_vdso() {
  const unsigned long start = getauxval(AT_SYSINFO_EHDR);
  if (start == 0) return -1;
  Elf64_Ehdr header;
  if (read_elf_header(hpcrun::MappedSource(start), header) != hpcrun::ElfStatus::Ok) return -1;
  const int fd = memfd_create("vdso", MFD_CLOEXEC);
  if (fd < 0) return -1;
  // The kernel maps it as a whole file.
  const uint64_t bytes = hpcrun::end_of_sections(header);
  if (write(fd, reinterpret_cast<const void*>(start), bytes) != static_cast<ssize_t>(bytes)) {
    close(fd);
    return -1;
  }
  return fd;
}

int open_module(const std::string& path) {
  if (path == "[vdso]") return open_own_vdso();
  RegularFile file(path);
  // The process loaded a regular file, so anything else there now counts as missing.
  if (!file.is_open()) errno = file.error() == EINVAL ? ENOENT : file.error();
  return file.release();
}

uint64_t modified_ns(const struct stat& status) {
  return static_cast<uint64_t>(status.st_mtim.tv_sec) * 1'000'000'000 +
         static_cast<uint64_t>(status.st_mtim.tv_nsec);
}

// Returns the saved copy of the measured file; empty if there is none.
std::string saved_copy(const hpcrun::FileIdentity& file, const AttributionOptions& options) {
  if (!file.is_known()) return {};
  for (const std::filesystem::path& directory : options.saved_in) {
    const std::string path =
        fmt::sprintf(hpcrun::kSavedFileFormat, directory.string(), file.device, file.inode, file.bytes);
    if (RegularFile(path).is_open()) return path;
  }
  return {};
}

}  // namespace

bool ModuleFile::begin() {
  const int opened = open_module(path_);
  if (opened < 0) return false;
  const int fd = expand_sections(opened);
  dwfl_.reset(dwfl_begin(&kCallbacks));
  // Base 0, so that the module's addresses are those that the file states.
  module_ = dwfl_report_elf(dwfl_.get(), path_.c_str(), path_.c_str(), fd, 0, true);
  if (module_ == nullptr) {
    close(fd);
    return false;
  }
  dwfl_report_end(dwfl_.get(), nullptr, nullptr);
  void** user_data = nullptr;
  dwfl_module_info(module_, &user_data, nullptr, nullptr, nullptr, nullptr, nullptr, nullptr);
  *user_data = const_cast<AttributionOptions*>(options_);
  return elf() != nullptr;
}

OpenFailure ModuleFile::open(const ModuleIdentity& module, const AttributionOptions& options) {
  options_ = &options;
  path_ = module.path;
  const OpenFailure failure = open_path(module);
  if (failure == OpenFailure::None && !may_be_another_) return failure;
  const std::string saved = saved_copy(module.file, options);
  if (saved.empty()) return failure;
  path_ = saved;
  ModuleIdentity copy = module;
  copy.file = {};
  copy.run_start_ns = 0;
  return open_path(copy);
}

OpenFailure ModuleFile::open_path(const ModuleIdentity& module) {
  if (const int fd = open_module(path_); fd >= 0) {
    struct stat status {};
    fstat(fd, &status);
    close(fd);
    const hpcrun::FileIdentity here{status.st_dev, status.st_ino, static_cast<uint64_t>(status.st_size)};
    const bool is_known = module.build_id.empty() && module.file.is_known() && path_ != "[vdso]";
    if (is_known && here.bytes != module.file.bytes) return OpenFailure::Another;
    may_be_another_ = is_known && here != module.file;
    may_have_changed_ =
        module.build_id.empty() && module.run_start_ns != 0 && modified_ns(status) > module.run_start_ns;
  } else {
    open_error_ = errno;
    return open_error_ == ENOENT || open_error_ == ENOTDIR ? OpenFailure::Missing : OpenFailure::Unreadable;
  }
  if (!begin()) return OpenFailure::NotElf;
  if (!module.build_id.empty() && build_id_of(elf()) != module.build_id) {
    return path_ == "[vdso]" ? OpenFailure::ForeignVdso : OpenFailure::Changed;
  }
  return OpenFailure::None;
}

bool ModuleFile::reopen() {
  dwfl_.reset();
  module_ = nullptr;
  return begin();
}

Elf* ModuleFile::elf() const {
  GElf_Addr bias = 0;
  return dwfl_module_getelf(module_, &bias);
}

Dwarf* ModuleFile::dwarf(uint64_t& bias) const {
  Dwarf_Addr dwarf_bias = 0;
  Dwarf* const debug = dwfl_module_getdwarf(module_, &dwarf_bias);
  bias = dwarf_bias;
  return debug;
}

}  // namespace prof
