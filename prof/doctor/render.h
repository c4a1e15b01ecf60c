#pragma once
// The doctor's report, for people and for programs.

#include <optional>
#include <string>
#include <vector>

#include "prof/base/terminal.h"
#include "prof/doctor/diagnosis.h"
#include "prof/doctor/program.h"

namespace prof {

struct DoctorReport {
  std::vector<Diagnosis> machine;
  std::optional<ProgramReport> program;
};

// Bad where no CPUTIME profile can be made, Limited where something is lost.
Verdict overall(const DoctorReport& report);

// What is lost and the commands that change it come first, the rest below.
std::string doctor_as_text(const DoctorReport& report, TextStyle style);
// "prof-doctor/1", docs/json.md.
std::string doctor_as_json(const DoctorReport& report);

}  // namespace prof
