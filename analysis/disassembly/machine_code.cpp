#include "analysis/disassembly/machine_code.h"

#include <dwarf.h>
#include <fmt/format.h>

#include <algorithm>
#include <cstdlib>
#include <cstring>
#include <memory>
#include <system_error>

#include "analysis/attribution/debug_file.h"
#include "analysis/attribution/demangle.h"
#include "analysis/attribution/hex.h"

namespace prof {
namespace {

constexpr const char* kDevice = "[device]";
constexpr const char* kVdso = "[vdso]";

std::string reason_not_opened(OpenFailure failure, const std::string& path, int error) {
  switch (failure) {
    case OpenFailure::None:
      return {};
    case OpenFailure::Missing:
      return fmt::format(
          "{}: no longer exists; open the database on a machine that has the file to see its instructions",
          path);
    case OpenFailure::Unreadable:
      return fmt::format("{}: cannot be read: {}", path, std::generic_category().message(error));
    case OpenFailure::NotElf:
      return fmt::format("{}: not a readable ELF file", path);
    case OpenFailure::Changed:
      return fmt::format("{}: has changed since the run (different build ID); measure it again", path);
    case OpenFailure::Another:
      return fmt::format("{}: is not the measured file (different size); measure it again", path);
    case OpenFailure::ForeignVdso:
      return "[vdso]: measured under another kernel";
  }
  return {};
}

std::string reason_no_file(const std::string& path) {
  if (path == kDevice) return "only x86-64 code is decoded, not device code";
  if (path.starts_with('[') && path != kVdso)
    return fmt::format("{}: no file contains this code, so it cannot be decoded", path);
  return {};
}

// True for a segment that may contain code and that contains the address in its file contents.
bool holds(const GElf_Phdr& header, uint64_t address) {
  return header.p_type == PT_LOAD && (header.p_flags & PF_X) != 0 && address >= header.p_vaddr &&
         address - header.p_vaddr < header.p_filesz;
}

std::optional<GElf_Phdr> segment_of(Elf* elf, uint64_t address) {
  size_t count = 0;
  if (elf_getphdrnum(elf, &count) != 0) return {};
  for (size_t i = 0; i < count; ++i) {
    GElf_Phdr header;
    if (gelf_getphdr(elf, static_cast<int>(i), &header) != nullptr && holds(header, address)) return header;
  }
  return {};
}

bool contains(const std::vector<CodeRange>& ranges, uint64_t offset) {
  return std::ranges::any_of(
      ranges, [&](const CodeRange& range) { return offset >= range.begin && offset < range.end; });
}

}  // namespace

MachineCode::MachineCode(const LoadModule& module, const AttributionOptions& options)
    : identity_{module.path, bytes_of_hex(module.build_id), 0}, failure_(reason_no_file(module.path)) {
  if (!failure_.empty()) return;
  failure_ = reason_not_opened(file_.open(identity_, options), module.path, file_.open_error());
  if (!failure_.empty()) return;
  GElf_Ehdr header;
  if (gelf_getehdr(file_.elf(), &header) == nullptr || header.e_machine != EM_X86_64) {
    failure_ = fmt::format("{}: not x86-64 code; no other code is decoded", module.path);
    return;
  }
  if (identity_.build_id.empty())
    note_ = fmt::format("{} was measured without a build ID; it may have changed since", module.path);
  symbols_.emplace(function_symbols(file_));
  stubs_.emplace(linkage_stubs(file_.elf()));
}

std::vector<CodeRange> MachineCode::stated_ranges(uint64_t offset) const {
  std::vector<CodeRange> ranges;
  Dwarf_Addr bias = 0;
  Dwarf_Die* const unit = dwfl_module_addrdie(file_.module(), offset, &bias);
  Dwarf_Die* scopes = nullptr;
  const int count = unit == nullptr ? 0 : dwarf_getscopes(unit, offset - bias, &scopes);
  const std::unique_ptr<Dwarf_Die, decltype(&std::free)> owner(scopes, &std::free);
  for (int i = 0; i < count; ++i) {
    if (dwarf_tag(&scopes[i]) != DW_TAG_subprogram) continue;
    ranges.clear();  // functions may be nested; the outermost one is the last
    Dwarf_Addr base = 0, low = 0, high = 0;
    for (ptrdiff_t next = 0; (next = dwarf_ranges(&scopes[i], next, &base, &low, &high)) > 0;)
      if (low < high) ranges.push_back({low + bias, high + bias});
  }
  std::ranges::sort(ranges, {}, &CodeRange::begin);
  return ranges;
}

std::vector<CodeRange> MachineCode::ranges_of_function(uint64_t offset) const {
  const auto segment = segment_of(file_.elf(), offset);
  if (!segment) return {};
  const uint64_t end_of_code = segment->p_vaddr + segment->p_filesz;
  std::vector<CodeRange> ranges = stated_ranges(offset);
  if (contains(ranges, offset)) return ranges;
  if (const NamedRange* stub = stubs_->find(offset)) return {{stub->start, stub->end}};
  if (const NamedRange* symbol = symbols_->find(offset))
    return {{symbol->start, std::min(symbol->end, end_of_code)}};
  const std::vector<uint64_t> starts = frame_starts(file_.elf());
  const auto behind = std::ranges::upper_bound(starts, offset);
  if (behind == starts.begin()) return {};
  return {{*std::prev(behind), behind == starts.end() ? end_of_code : std::min(*behind, end_of_code)}};
}

std::vector<uint8_t> MachineCode::bytes(CodeRange range) const {
  const auto segment = segment_of(file_.elf(), range.begin);
  size_t file_bytes = 0;
  const char* const image = elf_rawfile(file_.elf(), &file_bytes);
  if (!segment || image == nullptr) return {};
  const uint64_t before = range.begin - segment->p_vaddr;
  const uint64_t from = segment->p_offset + before;
  if (from >= file_bytes) return {};
  const uint64_t count =
      std::min({range.end - range.begin, segment->p_filesz - before, file_bytes - from, kMaxBytes});
  std::vector<uint8_t> bytes(count);
  std::memcpy(bytes.data(), image + from, count);
  return bytes;
}

std::string MachineCode::name_of(uint64_t offset) const {
  // Symbols without a size extend to the next one, but not into data.
  if (!segment_of(file_.elf(), offset)) return {};
  const NamedRange* const stub = stubs_->find(offset);
  const NamedRange* const found = stub ? stub : symbols_->find(offset);
  if (!found) return {};
  constexpr std::string_view kStub = "@plt";
  std::string_view linked = found->name;
  const bool is_stub = linked.ends_with(kStub);
  if (is_stub) linked.remove_suffix(kStub.size());
  const std::string name = demangle(linked).append(is_stub ? kStub : "");
  return offset == found->start ? name : fmt::format("{}+{:#x}", name, offset - found->start);
}

}  // namespace prof
