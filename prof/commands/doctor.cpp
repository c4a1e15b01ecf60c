#include "prof/commands/doctor.h"

#include <cstdio>
#include <memory>
#include <string>
#include <vector>

#include "prof/base/terminal.h"
#include "prof/doctor/checks.h"
#include "prof/doctor/machine.h"
#include "prof/doctor/program.h"
#include "prof/doctor/render.h"

namespace prof {
namespace {

constexpr int kCannotMeasure = 1;

struct DoctorOptions {
  std::string program;
  bool json = false;
};

int doctor(const DoctorOptions& options) {
  DoctorReport report;
  const Machine machine = this_machine();
  for (const Check check : machine_checks()) report.machine.push_back(check(machine));
  if (!options.program.empty()) report.program = examine_program(options.program);
  const std::string text =
      options.json ? doctor_as_json(report)
                   : doctor_as_text(report, TextStyle{wants_colour(stdout), terminal_columns(stdout)});
  std::fputs(text.c_str(), stdout);  // main() checks for errors
  return overall(report) == Verdict::Bad ? kCannotMeasure : 0;
}

}  // namespace

void add_doctor_command(CLI::App& app, int& status) {
  auto options = std::make_shared<DoctorOptions>();
  CLI::App* command = app.add_subcommand("doctor", "Check what can be measured on this machine");
  command->add_option("program", options->program, "Program to check as well")->type_name("PROGRAM");
  command->add_flag("--json", options->json, "Print JSON")->configurable(false);
  command->callback([options, &status] { status = doctor(*options); });
}

}  // namespace prof
