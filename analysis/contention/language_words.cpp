#include "analysis/contention/language_words.h"

#include <fmt/format.h>

#include "hpcrun/model/memory_access.h"

namespace prof {
namespace {

using hpcrun::kLineBytes;

constexpr char kGoPadding[] = "`_ [64]byte` or cpu.CacheLinePad of golang.org/x/sys/cpu";
static_assert(kLineBytes == 64);

}  // namespace

std::string alignment_of_type(SourceLanguage language) {
  switch (language) {
    case SourceLanguage::C:
      return fmt::format("__attribute__((aligned({})))", kLineBytes);
    case SourceLanguage::Rust:
      return fmt::format("#[repr(align({}))]", kLineBytes);
    case SourceLanguage::Go:
      return fmt::format("a last field {}", kGoPadding);
    case SourceLanguage::Fortran:
      return fmt::format("padding to {} bytes", kLineBytes);
    case SourceLanguage::Cpp:
    case SourceLanguage::Other:
      break;
  }
  return fmt::format("alignas({})", kLineBytes);
}

std::string alignment_of_declaration(SourceLanguage language) {
  switch (language) {
    case SourceLanguage::C:
      return fmt::format("_Alignas({})", kLineBytes);
    case SourceLanguage::Rust:
    case SourceLanguage::Go:
    case SourceLanguage::Fortran:
      return "";
    case SourceLanguage::Cpp:
    case SourceLanguage::Other:
      break;
  }
  return fmt::format("alignas({})", kLineBytes);
}

std::string align_both(SourceLanguage language, const std::string& left, const std::string& right) {
  switch (language) {
    case SourceLanguage::Rust:
      return fmt::format("wrap each of {} and {} in crossbeam's CachePadded, or in a struct with {}", left,
                         right, alignment_of_type(language));
    case SourceLanguage::Go:
      return fmt::format("put {} between {} and {}", kGoPadding, left, right);
    case SourceLanguage::Fortran:
      return fmt::format("put {} bytes of padding between {} and {}, in one derived type or common block",
                         kLineBytes, left, right);
    default:
      return fmt::format("put {} before {} and before {}", alignment_of_declaration(language), left, right);
  }
}

std::string align_alone(SourceLanguage language, const std::string& what) {
  switch (language) {
    case SourceLanguage::Rust:
      return fmt::format("wrap {} in crossbeam's CachePadded, or in a struct with {}", what,
                         alignment_of_type(language));
    case SourceLanguage::Go:
      return fmt::format("put {} before and after {}", kGoPadding, what);
    case SourceLanguage::Fortran:
      return fmt::format("put {} bytes of padding before and after {}", kLineBytes, what);
    default:
      return fmt::format("put {} before {}, and nothing else after it on its line",
                         alignment_of_declaration(language), what);
  }
}

std::string align_elements(SourceLanguage language, const std::string& declared) {
  switch (language) {
    case SourceLanguage::Rust:
      return fmt::format("wrap it in crossbeam's CachePadded, or put {} on its type{}",
                         alignment_of_type(language), declared);
    case SourceLanguage::Fortran:
      return fmt::format("add a first dimension that fills {} bytes{}", kLineBytes, declared);
    default:
      return fmt::format("{} on the type of its elements{}", alignment_of_type(language), declared);
  }
}

std::string copy_of_thread(SourceLanguage language) {
  switch (language) {
    case SourceLanguage::C:
      return "_Thread_local";
    case SourceLanguage::Rust:
      return "thread_local!";
    case SourceLanguage::Fortran:
      return "!$omp threadprivate";
    case SourceLanguage::Go:
      return "a variable of each goroutine";
    default:
      return "thread_local";
  }
}

}  // namespace prof
