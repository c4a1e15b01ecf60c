#pragma once
// Names of the kernel's functions, where the kernel that was recorded is the one that runs here, or perf kept
// its symbols (~/.debug).

#include <cstdint>
#include <map>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

namespace prof::perf {

struct KernelFunction {
  std::string_view name;
  std::string_view module;  // "nf_tables", empty for the kernel itself
};

class KernelSymbols {
 public:
  // Of the text of a kallsyms file: "ADDRESS TYPE NAME [MODULE]" in hexadecimal, one a line.
  explicit KernelSymbols(std::string text);

  // Where the kernel begins; nothing where addresses are hidden (kernel.kptr_restrict).
  std::optional<uint64_t> start() const { return start_; }

  // `slide`: by how much the recorded kernel lay higher. Modules lie elsewhere after each boot.
  std::optional<KernelFunction> find(uint64_t address, uint64_t slide) const;

 private:
  struct Symbol {
    uint64_t address;
    std::string_view name, module;
  };
  std::string text_;
  std::vector<Symbol> symbols_;
  std::optional<uint64_t> start_, end_;
};

// Of the kernel with this build-id; nothing where its symbols are not here. An empty id: of the kernel that
// runs here.
std::optional<KernelSymbols> find_kernel_symbols(std::span<const uint8_t> build_id);

}  // namespace prof::perf
