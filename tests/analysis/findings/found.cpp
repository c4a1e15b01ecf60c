#include "tests/analysis/findings/found.h"

#include "analysis/findings/all_findings.h"
#include "analysis/views/run/run_summary.h"
#include "tests/analysis/database/run_text.h"

namespace prof::test {

std::vector<Finding> findings_of(const Database& database) {
  const CallTree tree = build_call_tree(database, select(database, {}, {}), false);
  return all_findings(tree, run_summary(database), nullptr);
}

Kinds kinds(const std::vector<Finding>& findings) {
  Kinds result;
  for (const Finding& finding : findings) result.emplace_back(name_of(finding.kind));
  return result;
}

Database flawless(const std::string& json) {
  DatabaseBuilder b;
  b.metric("CPUTIME", "sec");
  const uint32_t t = b.thread(0);
  for (int i = 0; i < 20; ++i)
    b.spend(t, {{"main", 2}, {"f" + std::to_string(i % 5), 1}, {"g" + std::to_string(i), 7}}, 1);
  set_run_text(b.database, json);
  return b.build();
}

std::string only_sentence(const std::string& json) {
  const Database database = flawless(json);
  for (const Finding& finding : findings_of(database))
    if (finding.kind != FindingKind::Waiting) return finding.sentence;
  return "";
}

}  // namespace prof::test
