#pragma once
// Names of the kernel's functions, if the recorded kernel is running here or perf stored its symbols
// (~/.debug).

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
  std::string_view module;  // "nf_tables"; empty for the kernel itself
};

class KernelSymbols {
 public:
  // Reads the text of a kallsyms file: "ADDRESS TYPE NAME [MODULE]" in hexadecimal, one per line.
  explicit KernelSymbols(std::string text);

  // Returns the start of the kernel; nullopt if addresses are hidden (kernel.kptr_restrict).
  std::optional<uint64_t> start() const { return start_; }

  // `slide`: how much higher the recorded kernel lay. Modules lie elsewhere after each boot.
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

// Returns the symbols of the kernel with this build-id; nullopt if they are not here. An empty build-id means
// the running kernel.
std::optional<KernelSymbols> find_kernel_symbols(std::span<const uint8_t> build_id);

}  // namespace prof::perf
