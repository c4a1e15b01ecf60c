#include "prof/attach/allocator_calls.h"

#include <sys/uio.h>

#include <algorithm>
#include <array>
#include <cctype>
#include <cstring>
#include <string>

namespace prof {

namespace {

template <typename T>
bool read_from(int pid, uint64_t from, T& to) {
  const iovec local{&to, sizeof to};
  const iovec remote{reinterpret_cast<void*>(from), sizeof to};
  return process_vm_readv(pid, &local, 1, &remote, 1, 0) == static_cast<ssize_t>(sizeof to);
}

uint64_t displaced(uint64_t from, const unsigned char* displacement) {
  int32_t by = 0;
  std::memcpy(&by, displacement, sizeof by);
  return from + static_cast<uint64_t>(static_cast<int64_t>(by));
}

}  // namespace

bool AllocatorCalls::is_allocator(std::string_view name) {
  if (name.starts_with("_Znw") || name.starts_with("_Zna") || name.starts_with("_Zdl") ||
      name.starts_with("_Zda"))
    return true;  // operators new and delete
  std::string lower(name);
  for (char& c : lower) c = static_cast<char>(std::tolower(static_cast<unsigned char>(c)));
  return lower.find("alloc") != lower.npos || lower.find("free") != lower.npos ||
         lower.find("memalign") != lower.npos;
}

bool AllocatorCalls::is_function(uint64_t address) const {
  return std::ranges::any_of(functions_,
                             [=](const CodeRange& function) { return function.contains(address); });
}

// True if the target is one of the functions, or a stub through which functions of other modules are called:
// `jmp *slot(%rip)`, after endbr64 or with a prefix.
bool AllocatorCalls::leads_to_function(int pid, uint64_t target) const {
  if (is_function(target)) return true;
  std::array<unsigned char, 16> code{};
  if (!read_from(pid, target, code)) return false;
  constexpr unsigned char kLandingPad[] = {0xf3, 0x0f, 0x1e, 0xfa};
  size_t at =
      std::equal(std::begin(kLandingPad), std::end(kLandingPad), code.begin()) ? sizeof kLandingPad : 0;
  if (code.at(at) == 0xf2) ++at;
  uint64_t function = 0;
  return code.at(at) == 0xff && code.at(at + 1) == 0x25 &&
         read_from(pid, displaced(target + at + 6, &code.at(at + 2)), function) && is_function(function);
}

bool AllocatorCalls::calls_function(int pid, uint64_t return_address) const {
  constexpr size_t kCallBytes = 6;  // of the longest instruction below
  std::array<unsigned char, kCallBytes> code{};
  if (!read_from(pid, return_address - kCallBytes, code)) return false;
  if (code[1] == 0xe8 && leads_to_function(pid, displaced(return_address, &code[2]))) return true;
  uint64_t function = 0;
  return code[0] == 0xff && code[1] == 0x15 &&
         read_from(pid, displaced(return_address, &code[2]), function) && is_function(function);
}

bool AllocatorCalls::is_within(int pid, uint64_t instruction, std::span<const uint64_t> stack) const {
  if (is_function(instruction)) return true;
  return std::ranges::any_of(stack, [&](uint64_t word) {
    return std::ranges::any_of(code_, [=](const CodeRange& code) { return code.contains(word); }) &&
           calls_function(pid, word);
  });
}

}  // namespace prof
