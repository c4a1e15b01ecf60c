#include "analysis/attribution/go_functions.h"

#include <cstring>
#include <string>

#include "analysis/attribution/elf_section.h"

namespace prof {
namespace {

using Bytes = std::span<const uint8_t>;

constexpr uint32_t kMagicOf118 = 0xfffffff0;
constexpr uint32_t kMagicOf120 = 0xfffffff1;

// The header: the magic, two zeros, the quantum and the pointer size, followed by eight words.
enum HeaderWord { kCount, kFileCount, kText, kNames, kUnits, kFiles, kValues, kFunctions, kHeaderWords };
constexpr uint64_t kHeaderBytes = 8 + 8 * kHeaderWords;

// The list by which functions are found: the start of the code, and the location of its description.
constexpr uint64_t kEntryBytes = 8;

// Offsets in a function's description.
constexpr uint64_t kNameAt = 4, kFileValuesAt = 20, kLineValuesAt = 24, kUnitAt = 32, kStartLineAt = 36;

// Words of Go's moduledata.
enum ModuleWord { kTable = 0, kEndOfCode = 21, kStartOfCode = 22, kModuleWords };

constexpr uint32_t kNoFileOfUnit = UINT32_MAX;

template <typename T>
std::optional<T> load(Bytes bytes, uint64_t at) {
  T value;
  if (at > bytes.size() || bytes.size() - at < sizeof value) return std::nullopt;
  std::memcpy(&value, bytes.data() + at, sizeof value);
  return value;
}

std::string_view text_at(Bytes bytes, uint64_t at) {
  if (at >= bytes.size()) return {};
  const auto* begin = reinterpret_cast<const char*>(bytes.data() + at);
  return {begin, strnlen(begin, bytes.size() - at)};
}

// Reads a number of at most 32 bits in groups of seven, the lowest first.
std::optional<uint32_t> take_number(Bytes& bytes) {
  uint64_t value = 0;
  for (unsigned shift = 0; shift < 35 && !bytes.empty(); shift += 7) {
    const uint8_t byte = bytes[0];
    bytes = bytes.subspan(1);
    value |= uint64_t{byte & 0x7fu} << shift;
    if (!(byte & 0x80)) return static_cast<uint32_t>(value);
  }
  return std::nullopt;
}

// Since Go 1.26 the table does not state where the code is, but the runtime's moduledata does.
std::optional<GoFunctions> read_with_module(const ElfSection& table, const ElfSection& module) {
  const auto word = [&](ModuleWord index) { return load<uint64_t>(module.bytes, uint64_t{index} * 8); };
  const std::optional<uint64_t> text = word(kStartOfCode);
  if (word(kTable) != table.address || !text || *text == 0) return std::nullopt;
  std::optional<GoFunctions> functions = GoFunctions::read(table.bytes, *text);
  if (functions && word(kEndOfCode) != *text + functions->end_offset()) return std::nullopt;
  return functions;
}

}  // namespace

std::optional<GoFunctions> GoFunctions::read(Bytes table, uint64_t text) {
  const std::optional<uint32_t> magic = load<uint32_t>(table, 0);
  if (magic != kMagicOf118 && magic != kMagicOf120) return std::nullopt;
  if (table.size() < kHeaderBytes || table[6] == 0 || table[7] != 8) return std::nullopt;
  const auto word = [&](HeaderWord index) { return *load<uint64_t>(table, 8 + uint64_t{index} * 8); };
  GoFunctions functions;
  functions.text_ = text != 0 ? text : word(kText);
  if (functions.text_ == 0) return std::nullopt;
  functions.count_ = word(kCount);
  functions.quantum_ = table[6];
  functions.has_start_lines_ = magic == kMagicOf120;
  const auto part = [&](HeaderWord index) {
    const uint64_t at = word(index);
    return at <= table.size() ? table.subspan(at) : Bytes{};
  };
  functions.names_ = part(kNames);
  functions.units_ = part(kUnits);
  functions.files_ = part(kFiles);
  functions.values_ = part(kValues);
  functions.functions_ = part(kFunctions);
  // The list ends with the end of the last function.
  const uint64_t most = functions.functions_.size() / kEntryBytes;
  if (functions.count_ == 0 || functions.count_ >= most) return std::nullopt;
  return functions;
}

uint64_t GoFunctions::entry_offset(uint64_t index) const {
  return load<uint32_t>(functions_, index * kEntryBytes).value_or(UINT32_MAX);
}

std::optional<GoFunctions::Location> GoFunctions::find(uint64_t address) const {
  const uint64_t offset = address - text_;
  if (address < text_ || offset < entry_offset(0) || offset >= end_offset()) return std::nullopt;
  uint64_t low = 0;
  for (uint64_t high = count_; high - low > 1;) {
    const uint64_t middle = low + (high - low) / 2;
    (entry_offset(middle) <= offset ? low : high) = middle;
  }
  const std::optional<uint32_t> at = load<uint32_t>(functions_, low * kEntryBytes + 4);
  if (!at || *at > functions_.size()) return std::nullopt;
  const Bytes description = functions_.subspan(*at);
  const auto field = [&](uint64_t where) { return load<uint32_t>(description, where); };
  const std::optional<uint32_t> name = field(kNameAt);
  const std::optional<uint32_t> unit = field(kUnitAt);
  if (!name || !unit) return std::nullopt;  // then the fields between exist too
  const auto entry = static_cast<uint32_t>(entry_offset(low));
  Location location;
  location.start = text_ + entry;
  location.name = text_at(names_, *name);
  if (location.name.empty()) return std::nullopt;
  location.file = file_at(*field(kFileValuesAt), *unit, entry, offset);
  location.definition_file = file_at(*field(kFileValuesAt), *unit, entry, entry);
  if (const auto line = value_at(*field(kLineValuesAt), entry, offset); line && *line > 0)
    location.line = static_cast<uint32_t>(*line);
  if (const auto line = field(kStartLineAt); has_start_lines_ && line && *line <= INT32_MAX)
    location.definition_line = *line;
  return location;
}

// Reads pairs: a change of the value, and the number of instructions for which the result holds. The first is
// a change from -1.
std::optional<int32_t> GoFunctions::value_at(uint32_t values, uint32_t entry, uint64_t offset) const {
  if (values == 0 || values >= values_.size()) return std::nullopt;
  Bytes rest = values_.subspan(values);
  uint32_t value = UINT32_MAX;  // wraps as in Go's own arithmetic
  uint64_t end = entry;
  for (bool first = true;; first = false) {
    const std::optional<uint32_t> change = take_number(rest);
    if (!change || (*change == 0 && !first)) return std::nullopt;
    const std::optional<uint32_t> length = take_number(rest);
    if (!length) return std::nullopt;
    value += *change & 1 ? ~(*change >> 1) : *change >> 1;
    end += uint64_t{*length} * quantum_;
    if (offset < end) return static_cast<int32_t>(value);
  }
}

std::string_view GoFunctions::file_at(uint32_t values, uint32_t unit, uint32_t entry, uint64_t offset) const {
  const std::optional<int32_t> index = value_at(values, entry, offset);
  if (!index || *index < 0) return {};
  const auto file = load<uint32_t>(units_, (uint64_t{unit} + static_cast<uint32_t>(*index)) * 4);
  return file && *file != kNoFileOfUnit ? text_at(files_, *file) : std::string_view{};
}

std::optional<GoFunctions> go_functions(Elf* elf) {
  for (const char* name : {".gopclntab", ".data.rel.ro.gopclntab"}) {
    const ElfSection table = find_section(elf, name);
    if (table.bytes.empty()) continue;
    if (auto functions = GoFunctions::read(table.bytes, 0)) return functions;
    return read_with_module(table, find_section(elf, ".go.module"));
  }
  return std::nullopt;
}

}  // namespace prof
