#pragma once
// What can be measured of a program, and what will be known of its code: is it one that prof measures, and
// which debug information do it and its libraries have.

#include <filesystem>
#include <string>
#include <vector>

#include "prof/doctor/diagnosis.h"

namespace prof {

enum class DebugInformation : uint8_t {
  Full,       // DWARF, in the file or in a separate one: functions, lines, inlined calls
  Symbols,    // a symbol table: functions
  Dynamic,    // exported functions only
  Nothing,    // stripped of those, too
  Unreadable  // missing, no permission, or no ELF file
};
const char* debug_information_name(
    DebugInformation level);  // "full", "symbols", "exported", "none", "unreadable"

struct ModuleReport {
  std::filesystem::path path;
  std::string build_id;              // hexadecimal; empty where the file has none
  std::filesystem::path debug_file;  // empty: in the file itself, or there is none
  DebugInformation level = DebugInformation::Unreadable;
};

struct ProgramReport {
  std::vector<Diagnosis> diagnoses;
  std::vector<ModuleReport> modules;  // the program's own file (a script's interpreter) first
};

// `name` is found as `prof run` finds it. Its libraries are those that its loader names; nothing of the
// program runs. Does not throw: a program that is not found is a diagnosis.
ProgramReport examine_program(const std::string& name);

// One file. Never throws.
ModuleReport examine_module(const std::filesystem::path& path);

}  // namespace prof
