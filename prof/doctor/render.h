#pragma once
// Prints the doctor's report as text and JSON.

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

// Returns Bad if no CPUTIME profile can be made, and Limited if something is lost.
Verdict overall(const DoctorReport& report);

// Shows what is lost, and the commands that change it, before the rest.
std::string doctor_as_text(const DoctorReport& report, TextStyle style);
// Returns the report as "prof-doctor/1", see docs/json.md.
std::string doctor_as_json(const DoctorReport& report);

}  // namespace prof
