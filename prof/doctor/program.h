#pragma once
// Examines a program: whether prof can measure it, and which debug information it and its libraries have.

#include <filesystem>
#include <string>
#include <vector>

#include "prof/doctor/diagnosis.h"

namespace prof {

enum class DebugInformation : uint8_t {
  Full,       // DWARF, in the file or in a separate one: functions, lines, inlined calls
  Symbols,    // a symbol table: functions
  Dynamic,    // exported functions only
  Nothing,    // those are stripped, too
  Unreadable  // missing, no permission, or not an ELF file
};
const char* debug_information_name(
    DebugInformation level);  // "full", "symbols", "exported", "none", "unreadable"

struct ModuleReport {
  std::filesystem::path path;
  std::string build_id;              // hexadecimal; empty if the file has none
  std::filesystem::path debug_file;  // empty: in the file itself, or none
  DebugInformation level = DebugInformation::Unreadable;
};

struct ProgramReport {
  std::vector<Diagnosis> diagnoses;
  std::vector<ModuleReport> modules;  // the program's own file (a script's interpreter) first
};

// Examines the program that `prof run` would find by `name`, and the libraries that its loader lists. No code
// of the program runs. Does not throw: a program that is not found is a diagnosis.
ProgramReport examine_program(const std::string& name);

// Examines one file. Never throws.
ModuleReport examine_module(const std::filesystem::path& path);

}  // namespace prof
