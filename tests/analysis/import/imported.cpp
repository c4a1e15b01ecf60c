#include "tests/analysis/import/imported.h"

#include <stdexcept>

namespace prof::test {

std::string path_of(const Database& database, uint32_t context) {
  const Context& at = database.contexts[context];
  const std::string above = at.parent == kNone ? "" : path_of(database, at.parent);
  switch (at.kind) {
    case ContextKind::Entry:
      return at.entry;
    case ContextKind::Function:
      return above + (at.relation == Relation::InlinedCall ? "/+" : "/") +
             database.functions[at.function].name;
    default:
      return above + ":" + std::to_string(at.line);
  }
}

std::map<std::string, double> points(const Database& database, size_t profile, uint32_t metric) {
  std::map<std::string, double> found;
  for (const ProfileValue& value : database.profiles.at(profile).values)
    if (value.metric == metric && value.values.point != 0)
      found[path_of(database, value.context)] = value.values.point;
  return found;
}

double total(const Database& database, uint32_t metric) {
  double sum = 0;
  for (const Profile& profile : database.profiles)
    for (const ProfileValue& value : profile.values)
      if (value.metric == metric && database.contexts[value.context].kind == ContextKind::Entry)
        sum += value.values.inclusive;
  return sum;
}

ImportError::Kind failure_of(const std::string& contents, const ImportOptions& options) {
  try {
    import_text(contents, options);
  } catch (const ImportError& error) {
    if (std::string(error.what()).find('\n') != std::string::npos)
      throw std::logic_error("more than one line");
    return error.kind();
  }
  throw std::logic_error("it was imported");
}

}  // namespace prof::test
