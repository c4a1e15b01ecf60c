#include "prof/target.h"

#include <elf.h>
#include <sys/stat.h>
#include <sys/xattr.h>
#include <unistd.h>

#include <array>
#include <cstdlib>
#include <cstring>
#include <fstream>
#include <optional>
#include <vector>

#include "prof/message.h"

namespace prof {

namespace fs = std::filesystem;

namespace {

// The kernel follows no more interpreter lines than this.
constexpr int kMostInterpreters = 5;

bool is_executable_file(const fs::path& path) {
  std::error_code error;
  return fs::is_regular_file(path, error) && access(path.c_str(), X_OK) == 0;
}

fs::path search(const std::string& program) {
  if (program.empty()) fail(kNotFound, "the program's name is empty");
  if (program.find('/') != std::string::npos) {
    std::error_code error;
    const fs::file_status status = fs::status(program, error);
    if (status.type() == fs::file_type::not_found) fail(kNotFound, "{}: no such file", program);
    if (error) fail(kNotExecutable, "{}: {}", program, error.message());
    if (!is_executable_file(program)) fail(kNotExecutable, "{}: not an executable file", program);
    return program;
  }
  const char* variable = getenv("PATH");
  const std::string folders = variable ? variable : "/bin:/usr/bin";
  bool found_unusable = false;
  for (size_t at = 0; at <= folders.size();) {
    const size_t end = std::min(folders.find(':', at), folders.size());
    const fs::path candidate = fs::path(end > at ? folders.substr(at, end - at) : ".") / program;
    if (is_executable_file(candidate)) return candidate;
    std::error_code error;
    found_unusable |= fs::is_regular_file(candidate, error);
    at = end + 1;
  }
  if (found_unusable) fail(kNotExecutable, "{}: found on PATH but not executable", program);
  fail(kNotFound, "{}: command not found", program);
}

// The part of an ELF file that says how it is started.
struct Image {
  bool is_elf = false;
  bool is_64bit_x86 = false;
  bool is_dynamic = false;
  bool is_go = false;
};

template <typename T>
bool read_at(std::ifstream& file, uint64_t offset, T* out, size_t count) {
  file.clear();
  file.seekg(static_cast<std::streamoff>(offset));
  file.read(reinterpret_cast<char*>(out), static_cast<std::streamsize>(count * sizeof(T)));
  return static_cast<bool>(file);
}

bool has_go_section(std::ifstream& file, const Elf64_Ehdr& header) {
  if (header.e_shentsize != sizeof(Elf64_Shdr) || header.e_shstrndx >= header.e_shnum) return false;
  std::vector<Elf64_Shdr> sections(header.e_shnum);
  if (!read_at(file, header.e_shoff, sections.data(), sections.size())) return false;
  const Elf64_Shdr& names = sections[header.e_shstrndx];
  constexpr uint64_t kLongestNames = 1 << 20;
  std::string text(std::min<uint64_t>(names.sh_size, kLongestNames), '\0');
  if (!read_at(file, names.sh_offset, text.data(), text.size())) return false;
  for (const Elf64_Shdr& section : sections)
    if (section.sh_name < text.size() && std::strcmp(text.c_str() + section.sh_name, ".go.buildinfo") == 0)
      return true;
  return false;
}

Image read_image(std::ifstream& file) {
  Image image;
  Elf64_Ehdr header{};
  if (!read_at(file, 0, &header, 1) || std::memcmp(header.e_ident, ELFMAG, SELFMAG) != 0) return image;
  image.is_elf = true;
  image.is_64bit_x86 = header.e_ident[EI_CLASS] == ELFCLASS64 && header.e_machine == EM_X86_64;
  if (!image.is_64bit_x86 || header.e_phentsize != sizeof(Elf64_Phdr)) return image;
  std::vector<Elf64_Phdr> segments(header.e_phnum);
  if (!read_at(file, header.e_phoff, segments.data(), segments.size())) return image;
  for (const Elf64_Phdr& segment : segments) image.is_dynamic |= segment.p_type == PT_INTERP;
  image.is_go = has_go_section(file, header);
  return image;
}

std::optional<std::string> interpreter_of(std::ifstream& file) {
  std::array<char, 256> line{};
  file.clear();
  file.seekg(0);
  file.read(line.data(), line.size() - 1);
  if (line[0] != '#' || line[1] != '!') return std::nullopt;
  const std::string text(line.data() + 2);
  const size_t from = text.find_first_not_of(" \t");
  if (from == std::string::npos) return std::nullopt;
  return text.substr(from, text.find_first_of(" \t\n", from) - from);
}

void refuse_raised_privileges(const fs::path& path) {
  struct stat status {};
  if (stat(path.c_str(), &status) != 0) return;
  const bool changes_user = (status.st_mode & S_ISUID) && status.st_uid != geteuid();
  const bool changes_group =
      (status.st_mode & S_ISGID) && (status.st_mode & S_IXGRP) && status.st_gid != getegid();
  const bool has_capabilities =
      geteuid() != 0 && getxattr(path.c_str(), "security.capability", nullptr, 0) > 0;
  if (changes_user || changes_group || has_capabilities)
    fail(kOwnFailure,
         "{}: runs with raised privileges (setuid, setgid or file capabilities), so the loader ignores the "
         "runtime; run prof as the user it changes to, or measure a copy without them",
         path.string());
}

void refuse_unmeasurable(const fs::path& path, const Image& image) {
  if (!image.is_64bit_x86)
    fail(kOwnFailure, "{}: not an x86-64 program; the runtime measures 64-bit x86 programs only",
         path.string());
  if (image.is_go)
    fail(kOwnFailure,
         "{}: a Go program, whose runtime takes every signal by raw system call and would be killed by ours; "
         "use Go's own pprof for it",
         path.string());
  if (!image.is_dynamic)
    fail(kOwnFailure,
         "{}: statically linked, so the loader cannot preload the runtime; link it dynamically (without "
         "-static) to measure it",
         path.string());
}

}  // namespace

Target find_target(const std::string& program) {
  const fs::path path = search(program);
  fs::path at = path;
  for (int depth = 0; depth <= kMostInterpreters; ++depth) {
    std::ifstream file(at, std::ios::binary);
    if (!file) break;  // executable but not readable: nothing more to learn
    const Image image = read_image(file);
    if (image.is_elf) {
      refuse_unmeasurable(at, image);
      refuse_raised_privileges(at);
      break;
    }
    const std::optional<std::string> interpreter = interpreter_of(file);
    if (!interpreter) break;
    if (!is_executable_file(*interpreter))
      fail(kNotExecutable, "{}: its interpreter {} is not an executable file", at.string(), *interpreter);
    at = *interpreter;
  }
  return {path};
}

}  // namespace prof
