#pragma once
// The identifiers and statistics that our databases hold for a metric. meta.db, profile.db, cct.db and the
// metric taxonomy are written from this one table.

#include <array>
#include <cstdint>
#include <string_view>

#include "analysis/database/format.h"
#include "analysis/database/model.h"

namespace prof {

struct StatisticSpec {
  format::Scope scope;
  std::string_view formula;
  format::Combine combine;
  Values Summary::*statistic;  // nullptr for the count, which has one value for all scopes
};

// Sums come last, and "execution" last of them: Hatchet takes everything that is combined by summing (also
// counts and squares) for the sum, and keeps the last one that it reads. lex_aware has only a sum, which is
// what HPCToolkit's viewer requests.
constexpr std::array<StatisticSpec, 14> kStatisticSpecs = {{
    {format::Scope::Execution, format::kCountFormula, format::Combine::Sum, nullptr},
    {format::Scope::Point, format::kSquareFormula, format::Combine::Sum, &Summary::sum_of_squares},
    {format::Scope::Function, format::kSquareFormula, format::Combine::Sum, &Summary::sum_of_squares},
    {format::Scope::Execution, format::kSquareFormula, format::Combine::Sum, &Summary::sum_of_squares},
    {format::Scope::Point, format::kValueFormula, format::Combine::Minimum, &Summary::minimum},
    {format::Scope::Function, format::kValueFormula, format::Combine::Minimum, &Summary::minimum},
    {format::Scope::Execution, format::kValueFormula, format::Combine::Minimum, &Summary::minimum},
    {format::Scope::Point, format::kValueFormula, format::Combine::Maximum, &Summary::maximum},
    {format::Scope::Function, format::kValueFormula, format::Combine::Maximum, &Summary::maximum},
    {format::Scope::Execution, format::kValueFormula, format::Combine::Maximum, &Summary::maximum},
    {format::Scope::Point, format::kValueFormula, format::Combine::Sum, &Summary::sum},
    {format::Scope::Function, format::kValueFormula, format::Combine::Sum, &Summary::sum},
    {format::Scope::LexAware, format::kValueFormula, format::Combine::Sum, &Summary::sum},
    {format::Scope::Execution, format::kValueFormula, format::Combine::Sum, &Summary::sum},
}};

// Identifiers in the files have 16 bits.
constexpr size_t kMaximumMetrics = (UINT16_MAX + 1) / kStatisticSpecs.size();

constexpr uint16_t propagated_id(uint32_t metric, format::Scope scope) {
  return static_cast<uint16_t>(metric * format::kScopes + static_cast<uint32_t>(scope));
}
constexpr uint16_t statistic_id(uint32_t metric, size_t spec) {
  return static_cast<uint16_t>(metric * kStatisticSpecs.size() + spec);
}

// Returns the member of Values that holds a scope; nullptr for lex_aware, which the model does not keep.
constexpr double Values::*value_of(format::Scope scope) {
  switch (scope) {
    case format::Scope::Point:
      return &Values::point;
    case format::Scope::Function:
      return &Values::exclusive;
    case format::Scope::Execution:
      return &Values::inclusive;
    case format::Scope::LexAware:
      break;
  }
  return nullptr;
}

// Returns the name with its unit, as HPCToolkit writes it: "CPUTIME (sec)".
std::string full_name(const Metric& metric);
// Splits at the last parenthesis.
void split_full_name(std::string_view full, Metric& metric);

}  // namespace prof
