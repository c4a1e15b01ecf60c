#pragma once
// The common interface of run.json's records. Each has an overload of for_each_field(record, visit), which
// calls visit(name, field) for its numbers and texts, with their names in the file. run.json is written, read
// and displayed by that alone.

#include <algorithm>
#include <cstdint>
#include <initializer_list>
#include <map>
#include <string>
#include <string_view>
#include <type_traits>

#include "analysis/run/spelling.h"

namespace prof {

// For overloads that accept const and non-const records.
template <typename Record, typename Plain>
concept RecordOf = std::is_same_v<std::remove_const_t<Record>, Plain>;

template <typename Json, typename Record>
Json fields_as_json(const Record& record, std::initializer_list<std::string_view> left_out = {}) {
  Json json = Json::object();
  for_each_field(record, [&](const char* name, const auto& value) {
    if (std::ranges::find(left_out, name) != left_out.end()) return;
    if constexpr (std::is_enum_v<std::remove_cvref_t<decltype(value)>>)
      json[name] = name_of(value);
    else
      json[name] = value;
  });
  return json;
}

// Returns the count of each value.
template <typename Json, typename Enum>
Json counts_as_json(const std::map<Enum, uint64_t>& counts) {
  Json json = Json::object();
  for (const auto& [what, count] : counts) json[std::string(name_of(what))] = count;
  return json;
}

}  // namespace prof
