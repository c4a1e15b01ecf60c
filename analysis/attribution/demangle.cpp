#include "analysis/attribution/demangle.h"

#include <cxxabi.h>

#include <algorithm>
#include <charconv>
#include <cstdlib>
#include <memory>

namespace prof {
namespace {

// Rust's legacy mangling is Itanium's, with "h" and 16 hexadecimal digits as the last name.
constexpr size_t kRustHashDigits = 16;
constexpr std::string_view kRustHashPrefix = "::h";

bool strip_rust_hash(std::string& name) {
  if (name.size() <= kRustHashPrefix.size() + kRustHashDigits) return false;
  const size_t at = name.size() - kRustHashDigits - kRustHashPrefix.size();
  if (name.compare(at, kRustHashPrefix.size(), kRustHashPrefix) != 0) return false;
  const auto is_lower_hex = [](char c) { return (c >= '0' && c <= '9') || (c >= 'a' && c <= 'f'); };
  if (!std::all_of(name.end() - kRustHashDigits, name.end(), is_lower_hex)) return false;
  name.resize(at);
  return true;
}

// Returns the text of an escape such as "$LT$", given without its dollars; empty if there is no such escape.
std::string rust_escape(std::string_view code) {
  constexpr std::pair<std::string_view, std::string_view> kEscapes[] = {
      {"SP", "@"}, {"BP", "*"}, {"RF", "&"}, {"LT", "<"}, {"GT", ">"}, {"LP", "("}, {"RP", ")"}, {"C", ","}};
  for (const auto& [name, text] : kEscapes) {
    if (code == name) return std::string(text);
  }
  unsigned value = 0;
  if (code.size() < 2 || code[0] != 'u') return {};
  const auto [end, error] = std::from_chars(code.data() + 1, code.data() + code.size(), value, 16);
  const bool ascii =
      error == std::errc{} && end == code.data() + code.size() && value >= 0x20 && value < 0x7f;
  return ascii ? std::string(1, static_cast<char>(value)) : std::string{};
}

std::string unescape_rust(std::string_view in) {
  std::string out;
  for (size_t i = 0; i < in.size();) {
    // A path element that begins with an escape has an underscore before it.
    const bool element_start = i == 0 || in.substr(0, i).ends_with("::");
    if (element_start && in.substr(i).starts_with("_$")) {
      ++i;
    } else if (in[i] == '$') {
      const size_t end = in.find('$', i + 1);
      const std::string text =
          end == std::string_view::npos ? std::string{} : rust_escape(in.substr(i + 1, end - i - 1));
      if (text.empty()) return std::string(in);
      out += text;
      i = end + 1;
    } else if (in.substr(i).starts_with("..")) {
      out += "::";
      i += 2;
    } else {
      out += in[i++];
    }
  }
  return out;
}

}  // namespace

std::string demangle(std::string_view name) {
  if (!name.starts_with("_Z")) return std::string(name);
  int status = 0;
  const std::string terminated(name);
  const std::unique_ptr<char, decltype(&std::free)> text(
      abi::__cxa_demangle(terminated.c_str(), nullptr, nullptr, &status), &std::free);
  if (status != 0 || text == nullptr) return terminated;
  std::string demangled = text.get();
  return strip_rust_hash(demangled) ? unescape_rust(demangled) : demangled;
}

}  // namespace prof
