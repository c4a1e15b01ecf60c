#include "analysis/import/perf/mapped_files.h"

#include <fmt/format.h>

#include <algorithm>

namespace prof::perf {

namespace {

// True for memory without a file, where JIT compilers put code.
bool is_anonymous(std::string_view path) {
  return path.empty() || path.starts_with("//anon") || path.starts_with("/memfd:") || path == "[heap]" ||
         path.starts_with("[stack") || path.starts_with("[anon") || path.starts_with("/dev/zero") ||
         path.starts_with("/SYSV") || path.starts_with("/anon_hugepage");
}

}  // namespace

uint32_t MappedFiles::number(const Mapping& mapping) {
  std::vector<uint8_t> build_id(mapping.build_id.begin(), mapping.build_id.end());
  std::string path(mapping.path);
  if (build_id.empty()) {
    const auto at = std::ranges::find(build_ids_, path, &BuildId::path);
    if (at != build_ids_.end()) build_id = at->bytes;
  }
  const auto [at, added] =
      numbers_.try_emplace({std::move(path), std::move(build_id)}, static_cast<uint32_t>(files_.size()));
  if (!added) return at->second;
  File file;
  file.path = at->first.first;
  file.build_id = at->first.second;
  // A file of that name on another machine is a different file, unless the build-id is equal.
  file.opened = trust_.open && (trust_.here || !file.build_id.empty()) &&
                (file.path.starts_with('/') || (file.path == "[vdso]" && trust_.here)) &&
                !file.path.starts_with("//");
  files_.push_back(std::move(file));
  return at->second;
}

uint32_t MappedFiles::generated_code(int32_t pid) {
  const auto [at, added] = generated_.try_emplace(pid, 0);
  if (added) {
    PerfMap map;
    if (trust_.here && trust_.open) map = {fmt::format("/tmp/perf-{}.map", pid), source_.owner, 0};
    at->second = modules_.module(ModuleKind::Jit, {"[jit]", {}, 0}, map);
  }
  return at->second;
}

uint32_t MappedFiles::module_of(File& file, int32_t pid) {
  if (is_anonymous(file.path)) return generated_code(pid);
  if (file.module != kNone) return file.module;
  const bool bracketed = file.path.starts_with('[');
  const std::string name =
      bracketed ? file.path : fmt::format("[{}]", file.path.substr(file.path.rfind('/') + 1));
  file.module = file.opened ? modules_.module(ModuleKind::File,
                                              {file.path, file.build_id, bracketed ? 0 : source_.written_ns})
                            : modules_.module(ModuleKind::Unknown, {name, {}, 0});
  return file.module;
}

MappedFiles::Code MappedFiles::code(const AddressSpace& space, int32_t pid, uint64_t address) {
  AddressSpace::Found found{};
  if (!space.find(address, found)) {
    if (!unknown_) unknown_ = modules_.module(ModuleKind::Unknown, {"[unknown]", {}, 0});
    return {*unknown_, 0};
  }
  File& file = files_[found.file];
  const uint32_t module = module_of(file, pid);
  if (is_anonymous(file.path)) return {module, address};
  if (!file.opened) return {module, 0};
  return {module, segments_.address_of(file.path, found.file_offset)};
}

MappedFiles::CodeInFile MappedFiles::code_in_file(const AddressSpace& space, uint64_t address) const {
  AddressSpace::Found found{};
  if (!space.find(address, found) || !files_[found.file].has_code_here()) return {};
  const File& file = files_[found.file];
  return {identity_of(file), segments_.address_of(file.path, found.file_offset)};
}

std::vector<ModuleInMemory> MappedFiles::modules(const AddressSpace& space) const {
  std::vector<ModuleInMemory> all;
  for (const auto& [start, part] : space.parts()) {
    const File& file = files_[part.file];
    if (!file.has_code_here()) continue;
    const uint64_t bias = start - segments_.address_of(file.path, part.file_offset);
    const Segments::Extent extent = segments_.extent(file.path);
    if (extent.begin == extent.end || (!all.empty() && all.back().start == extent.begin + bias)) continue;
    all.push_back({extent.begin + bias, extent.end + bias, bias, identity_of(file)});
  }
  return all;
}

UnwindModule MappedFiles::unwind_module(const void* self, uint64_t start, const MappedPart& part) {
  const auto& files = *static_cast<const MappedFiles*>(self);
  const File& file = files.files_[part.file];
  if (!file.has_code_here()) return {};
  return {file.path, start - files.segments_.address_of(file.path, part.file_offset)};
}

}  // namespace prof::perf
