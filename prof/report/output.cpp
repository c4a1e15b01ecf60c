#include "prof/report/output.h"

#include <algorithm>
#include <cmath>
#include <nlohmann/json.hpp>

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

std::string csv_field(std::string_view text) {
  if (text.find_first_of(",\"\r\n") == std::string_view::npos) return std::string(text);
  std::string quoted = "\"";
  for (const char c : text) {
    if (c == '"') quoted += '"';
    quoted += c;
  }
  return quoted + '"';
}

}  // namespace prof
