#include "prof/report/output.h"

#include <algorithm>
#include <charconv>
#include <cmath>
#include <nlohmann/json.hpp>

#include "prof/base/message.h"

namespace prof {

bool Output::flush() {
  if (buffer_.size() > 0 && std::fwrite(buffer_.data(), 1, buffer_.size(), file_) != buffer_.size())
    good_ = false;
  buffer_.clear();
  if (std::fflush(file_) != 0) good_ = false;
  return good_;
}

void write_json_string(Output& out, std::string_view text) {
  const bool plain = std::all_of(text.begin(), text.end(),
                                 [](char c) { return c >= 0x20 && c < 0x7F && c != '"' && c != '\\'; });
  if (plain) {
    out.print("\"{}\"", text);
  } else {
    out.write(
        nlohmann::json(std::string(text)).dump(-1, ' ', false, nlohmann::json::error_handler_t::replace));
  }
}

void write_script_string(Output& out, std::string_view text) {
  std::string json =
      nlohmann::json(std::string(text)).dump(-1, ' ', false, nlohmann::json::error_handler_t::replace);
  for (size_t at = 0; (at = json.find('<', at)) != std::string::npos;) json.replace(at, 1, "\\u003c");
  out.write(json);
}

void write_json_number(Output& out, double value) {
  out.print("{}", std::isfinite(value) ? value : 0.0);
}

namespace {

bool is_number(std::string_view text) {
  if (text.starts_with('+')) text.remove_prefix(1);
  double value = 0;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), value);
  return !text.empty() && error == std::errc() && end == text.data() + text.size();
}

}  // namespace

std::string csv_field(std::string_view name) {
  std::string text = printable_lines(name);
  constexpr std::string_view kStartsFormula = "=+-@\t\r";
  if (!text.empty() && kStartsFormula.find(text[0]) != kStartsFormula.npos && !is_number(text))
    text.insert(text.begin(), '\'');
  if (text.find_first_of(",\"\r\n") == std::string::npos) return text;
  std::string quoted = "\"";
  for (const char c : text) {
    if (c == '"') quoted += '"';
    quoted += c;
  }
  return quoted + '"';
}

}  // namespace prof
