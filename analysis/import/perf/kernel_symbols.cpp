#include "analysis/import/perf/kernel_symbols.h"

#include <fmt/format.h>

#include <algorithm>
#include <charconv>
#include <cstdlib>
#include <fstream>
#include <sstream>

#include "hpcrun/elf/notes.h"

namespace prof::perf {
namespace {

// The maximum size of a symbol that has no next one or is followed by a gap.
constexpr uint64_t kLongestFunction = uint64_t{1} << 20;

std::optional<std::string> contents_of(const std::string& path) {
  std::ifstream in(path, std::ios::binary);
  if (!in) return std::nullopt;
  std::ostringstream out;
  out << in.rdbuf();
  return std::move(out).str();
}

// Returns the build-id in the notes that the running kernel provides.
std::vector<uint8_t> own_build_id() {
  const std::string notes = contents_of("/sys/kernel/notes").value_or("");
  const hpcrun::BytesSource source{std::string_view(notes)};
  hpcrun::ElfNote note;
  if (!find_build_id(source, 0, notes.size(), 4, note)) return {};
  const hpcrun::Bytes id = source.at(note.description, note.description_bytes);
  return {id.data, id.data + id.size};
}

std::string_view take_word(std::string_view& line) {
  const size_t first = std::min(line.find_first_not_of(" \t"), line.size());
  line.remove_prefix(first);
  const std::string_view word = line.substr(0, line.find_first_of(" \t"));
  line.remove_prefix(word.size());
  return word;
}

}  // namespace

KernelSymbols::KernelSymbols(std::string text) : text_(std::move(text)) {
  std::string_view rest = text_;
  while (!rest.empty()) {
    std::string_view line = rest.substr(0, rest.find('\n'));
    rest.remove_prefix(std::min(line.size() + 1, rest.size()));
    const std::string_view number = take_word(line);
    const std::string_view type = take_word(line);
    const std::string_view name = take_word(line);
    std::string_view module = take_word(line);
    uint64_t address = 0;
    const char* const end = number.data() + number.size();
    if (std::from_chars(number.data(), end, address, 16).ptr != end || address == 0 || name.empty()) continue;
    if (name == "_text" || (name == "_stext" && !start_)) start_ = address;
    if (name == "_etext") end_ = address;
    if (type != "t" && type != "T" && type != "w" && type != "W") continue;
    if (module.starts_with('[') && module.ends_with(']')) module = module.substr(1, module.size() - 2);
    symbols_.push_back({address, name, module});
  }
  std::stable_sort(symbols_.begin(), symbols_.end(),
                   [](const Symbol& a, const Symbol& b) { return a.address < b.address; });
}

std::optional<KernelFunction> KernelSymbols::find(uint64_t address, uint64_t slide) const {
  const uint64_t here = address - slide;
  const auto after = std::upper_bound(symbols_.begin(), symbols_.end(), here,
                                      [](uint64_t a, const Symbol& symbol) { return a < symbol.address; });
  if (after == symbols_.begin()) return std::nullopt;
  const Symbol& found = *std::prev(after);
  if (here - found.address > kLongestFunction) return std::nullopt;
  if (slide != 0 && (!found.module.empty() || (end_ && here >= *end_))) return std::nullopt;
  return KernelFunction{found.name, found.module};
}

std::optional<KernelSymbols> find_kernel_symbols(std::span<const uint8_t> build_id) {
  std::optional<std::string> text;
  if (build_id.empty() || std::ranges::equal(build_id, own_build_id())) {
    text = contents_of("/proc/kallsyms");
  } else if (const char* home = std::getenv("HOME")) {
    std::string id;
    for (const uint8_t byte : build_id) id += fmt::format("{:02x}", byte);
    text = contents_of(fmt::format("{}/.debug/[kernel.kallsyms]/{}/kallsyms", home, id));
  }
  if (!text) return std::nullopt;
  return KernelSymbols(std::move(*text));
}

}  // namespace prof::perf
