#include "prof/doctor/program.h"

#include <fcntl.h>
#include <fmt/format.h>
#include <gelf.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <cstring>
#include <sstream>

#include "analysis/attribution/debug_file.h"
#include "analysis/attribution/hex.h"
#include "analysis/attribution/module_file.h"
#include "prof/base/message.h"
#include "prof/launch/target.h"

namespace prof {

namespace fs = std::filesystem;

namespace {

struct Sections {
  bool symbols = false;  // .symtab, or Fedora's compressed .gnu_debugdata
  bool dynamic = false;
  std::string interpreter;  // PT_INTERP
};

Sections read_sections(Elf* elf) {
  Sections found;
  size_t names = 0;
  elf_getshdrstrndx(elf, &names);
  for (Elf_Scn* section = nullptr; (section = elf_nextscn(elf, section)) != nullptr;) {
    GElf_Shdr header;
    if (!gelf_getshdr(section, &header)) continue;
    const char* name = elf_strptr(elf, names, header.sh_name);
    found.symbols |= header.sh_type == SHT_SYMTAB || (name && std::strcmp(name, ".gnu_debugdata") == 0);
    found.dynamic |= header.sh_type == SHT_DYNSYM;
    if (!name || std::strcmp(name, ".interp") != 0) continue;
    const Elf_Data* data = elf_getdata(section, nullptr);
    if (data && data->d_size > 1)
      found.interpreter.assign(static_cast<const char*>(data->d_buf), data->d_size - 1);
  }
  return found;
}

// Returns the output of a command; empty if it fails.
std::string output_of(const std::vector<std::string>& command) {
  int ends[2];
  if (pipe2(ends, O_CLOEXEC) != 0) return {};
  const pid_t child = fork();
  if (child == 0) {
    dup2(ends[1], STDOUT_FILENO);
    dup2(open("/dev/null", O_WRONLY | O_CLOEXEC), STDERR_FILENO);
    std::vector<char*> arguments;
    arguments.reserve(command.size() + 1);
    for (const std::string& word : command) arguments.push_back(const_cast<char*>(word.c_str()));
    arguments.push_back(nullptr);
    execv(arguments[0], arguments.data());
    _exit(127);
  }
  close(ends[1]);
  std::string text;
  char block[4096];
  for (ssize_t got = 0; child > 0 && (got = read(ends[0], block, sizeof block)) > 0;)
    text.append(block, static_cast<size_t>(got));
  close(ends[0]);
  int status = 0;
  if (child > 0) waitpid(child, &status, 0);
  return status == 0 ? text : std::string();
}

// Returns the loader's own list, " libm.so.6 => /lib/x86_64-linux-gnu/libm.so.6 (0x...)". The loader maps the
// libraries and runs none of their code.
std::vector<fs::path> libraries_of(const fs::path& program, const std::string& loader) {
  std::vector<fs::path> libraries;
  if (loader.empty()) return libraries;
  std::error_code error;
  const fs::path file =
      fs::canonical(program, error);  // the loader would resolve a link such as /proc/self/exe differently
  std::istringstream lines(output_of({loader, "--list", file.string()}));
  for (std::string line; std::getline(lines, line);) {
    const size_t start = line.find('/');
    const size_t end = line.rfind(" (0x");
    if (start == line.npos || end == line.npos || end < start) continue;
    const fs::path path = line.substr(start, end - start);
    if (path.string() != loader) libraries.push_back(path);
  }
  return libraries;
}

std::string interpreter_of(const fs::path& path) {
  const int file = open(path.c_str(), O_RDONLY | O_CLOEXEC);
  if (file < 0) return {};
  Elf* elf = elf_begin(file, ELF_C_READ_MMAP, nullptr);
  const std::string interpreter = elf ? read_sections(elf).interpreter : "";
  elf_end(elf);
  close(file);
  return interpreter;
}

Diagnosis measurable(const std::string& name, const Target& target) {
  Diagnosis row{"program", name, Verdict::Good, target.image.string(), "can be measured", "", ""};
  if (target.image.empty()) row.state = target.path.string() + ", which this user may not read";
  if (target.needs_outside()) {
    row.state += fmt::format(" ({})", reason_outside(target.kind));
    row.works = "can be measured from outside, by perf events";
  }
  return row;
}

// Turns a refusal, "PATH: what; remedy", into a diagnosis.
Diagnosis refused(const std::string& name, const std::string& line) {
  const size_t remedy = line.rfind("; ");
  return {"program",
          name,
          Verdict::Bad,
          line.substr(0, remedy),
          "",
          "the program cannot be measured",
          remedy == line.npos ? "" : line.substr(remedy + 2)};
}

Diagnosis debug_diagnosis(const ModuleReport& module) {
  Diagnosis row{"debug_information",
                "debug information",
                Verdict::Good,
                "",
                "functions, lines and inlined calls",
                "",
                ""};
  const std::string name = module.path.filename().string();
  row.state = fmt::format("{} (build-id {})", debug_information_name(module.level),
                          module.build_id.empty() ? "none" : module.build_id);
  switch (module.level) {
    case DebugInformation::Full:
      if (!module.debug_file.empty()) row.state += ", " + module.debug_file.string();
      return row;
    case DebugInformation::Symbols:
      row.works = "functions by name";
      row.lost = "source lines and inlined calls";
      break;
    case DebugInformation::Dynamic:
      row.works = "exported functions by name, all others as " + name + "+0xOFFSET";
      row.lost = "names, source lines and inlined calls";
      break;
    case DebugInformation::Nothing:
    case DebugInformation::Unreadable:
      row.works = "functions as " + name + "+0xOFFSET";
      row.lost = "names, source lines and inlined calls";
      break;
  }
  row.verdict = Verdict::Limited;
  row.remedy =
      "compile with -g (-O2 -g costs no speed), or install the package's -dbgsym or -debuginfo package";
  return row;
}

Diagnosis library_diagnosis(const std::vector<ModuleReport>& modules) {
  Diagnosis row{"libraries", "its libraries", Verdict::Note, "", "", "", ""};
  size_t full = 0;
  std::string others;
  for (size_t i = 1; i < modules.size(); ++i) {
    if (modules[i].level == DebugInformation::Full) {
      ++full;
    } else {
      others += (others.empty() ? "" : ", ") + fmt::format("{} ({})", modules[i].path.filename().string(),
                                                           debug_information_name(modules[i].level));
    }
  }
  row.state = fmt::format("{} of {} with full debug information", full, modules.size() - 1);
  if (others.empty()) return row;
  row.works = "functions that have names, in " + others;
  row.lost = "source lines in those libraries";
  row.remedy = "install their -dbgsym or -debuginfo packages, such as libc6-dbg";
  return row;
}

}  // namespace

const char* debug_information_name(DebugInformation level) {
  switch (level) {
    case DebugInformation::Full:
      return "full";
    case DebugInformation::Symbols:
      return "symbols";
    case DebugInformation::Dynamic:
      return "exported";
    case DebugInformation::Nothing:
      return "none";
    case DebugInformation::Unreadable:
      return "unreadable";
  }
  return "";
}

ModuleReport examine_module(const fs::path& path) {
  ModuleReport report;
  report.path = path;
  const AttributionOptions options;
  ModuleFile file;
  if (file.open({path.string(), {}, 0}, options) != OpenFailure::None || !file.elf()) return report;
  report.build_id = hex(build_id_of(file.elf()));
  const Sections sections = read_sections(file.elf());
  uint64_t bias = 0;
  if (file.dwarf(bias)) {
    report.level = DebugInformation::Full;
    const char* main_file = nullptr;
    const char* debug_file = nullptr;
    dwfl_module_info(file.module(), nullptr, nullptr, nullptr, nullptr, nullptr, &main_file, &debug_file);
    if (debug_file && (!main_file || std::strcmp(main_file, debug_file) != 0)) report.debug_file = debug_file;
  } else {
    report.level = sections.symbols   ? DebugInformation::Symbols
                   : sections.dynamic ? DebugInformation::Dynamic
                                      : DebugInformation::Nothing;
  }
  return report;
}

ProgramReport examine_program(const std::string& name) {
  ProgramReport report;
  fs::path image;
  try {
    const Target target = find_target(name);
    report.diagnoses.push_back(measurable(name, target));
    image = target.image.empty() ? target.path : target.image;
  } catch (const CommandError& error) {
    report.diagnoses.push_back(refused(name, error.what()));
    return report;
  }
  elf_version(EV_CURRENT);
  report.modules.push_back(examine_module(image));
  for (const fs::path& library : libraries_of(image, interpreter_of(image)))
    report.modules.push_back(examine_module(library));
  report.diagnoses.push_back(debug_diagnosis(report.modules.front()));
  if (report.modules.size() > 1) report.diagnoses.push_back(library_diagnosis(report.modules));
  return report;
}

}  // namespace prof
