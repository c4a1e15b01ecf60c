#pragma once
// The results of the doctor: one diagnosis for each check.

#include <cstdint>
#include <string>
#include <vector>

namespace prof {

enum class Verdict : uint8_t {
  Good,     // nothing is lost
  Limited,  // a profile can be made, something is lost
  Bad,      // no profile can be made
  Note,     // worth knowing, but not needed by prof
};
const char* verdict_name(Verdict verdict);  // "good", "limited", "bad", "note"

struct Diagnosis {
  std::string id;     // stable, for programs: "perf_event_paranoid"
  std::string title;  // "kernel.perf_event_paranoid"
  Verdict verdict = Verdict::Good;
  std::string state;   // what was found: "2"
  std::string works;   // what is possible; may be empty
  std::string lost;    // what is not possible; empty for Good
  std::string remedy;  // the command that changes it; empty if nothing is lost, or nothing can be done
};

// Returns the worst verdict: Bad, else Limited, else Good.
Verdict overall(const std::vector<Diagnosis>& diagnoses);

}  // namespace prof
