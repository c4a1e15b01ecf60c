#include "analysis/import/perf/kernel_places.h"

#include <fmt/format.h>

#include <algorithm>

namespace prof::perf {

namespace {

constexpr std::string_view kKernelPath = "[kernel]";

std::string module_name(std::string_view path) {
  if (path.starts_with('[')) return std::string(path);
  return fmt::format("[{}]", path.substr(path.rfind('/') + 1));
}

}  // namespace

void KernelPlaces::add(const KernelSymbol& symbol) {
  made_[symbol.start] = {symbol.start + symbol.bytes, std::string(symbol.name)};
}

void KernelPlaces::add(const Mapping& mapping) {
  if (mapping.path.starts_with("[guest.kernel")) return;
  if (mapping.path.starts_with("[kernel.kallsyms]"))
    start_ = mapping.file_offset;
  else
    modules_[mapping.start] = {mapping.start + (mapping.bytes - 1), std::string(mapping.path)};
}

void KernelPlaces::find_names(const std::vector<BuildId>& build_ids, bool here,
                              std::vector<std::string>& warnings) {
  if (!start_) return;
  const auto id = std::ranges::find(build_ids, "[kernel.kallsyms]", &BuildId::path);
  // Without a build-id, only the machine's name identifies the kernel.
  if (id == build_ids.end() && !here) return;
  symbols_ = find_kernel_symbols(id == build_ids.end() ? std::span<const uint8_t>{} : id->bytes);
  if (!symbols_) return;
  if (symbols_->start()) {
    slide_ = *start_ - *symbols_->start();
    return;
  }
  warnings.emplace_back(
      "addresses in /proc/kallsyms are hidden, so kernel functions have no names; import as root, or after "
      "`sysctl kernel.kptr_restrict=0`");
  symbols_.reset();
}

PlaceId KernelPlaces::place(uint64_t address, DatabaseBuilder& builder) const {
  std::string name, module(kKernelPath);
  const auto made = made_.upper_bound(address);
  if (made != made_.begin() && address < std::prev(made)->second.end) {
    name = std::prev(made)->second.name;
  } else if (symbols_) {
    if (const std::optional<KernelFunction> found = symbols_->find(address, slide_)) {
      name = found->name;
      if (!found->module.empty()) module = fmt::format("[{}]", found->module);
    }
  }
  if (name.empty()) {
    const auto loaded = modules_.upper_bound(address);
    if (loaded != modules_.begin() && address <= std::prev(loaded)->second.last)
      module = module_name(std::prev(loaded)->second.path);
    name = module;
  }
  const PlaceFrame only{builder.function(name, builder.module(module), kNone, 0), kNone, 0, false};
  return builder.places().add({&only, 1});
}

}  // namespace prof::perf
