#include "viewer/trace/mapping.h"

#include <fcntl.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cstdio>
#include <utility>

namespace prof::viewer {

Mapping::Mapping(int descriptor) {
  map(descriptor);
}

Mapping::Mapping(const std::filesystem::path& file) {
  const int descriptor = ::open(file.c_str(), O_RDONLY | O_CLOEXEC | O_NONBLOCK);
  if (descriptor < 0) return;
  map(descriptor);
  ::close(descriptor);
}

void Mapping::map(int descriptor) {
  struct stat status {};
  if (::fstat(descriptor, &status) != 0 || !S_ISREG(status.st_mode) || status.st_size == 0) return;
  const auto size = static_cast<uint64_t>(status.st_size);
  void* const data = ::mmap(nullptr, size, PROT_READ, MAP_SHARED, descriptor, 0);
  if (data == MAP_FAILED) return;
  data_ = static_cast<char*>(data);
  size_ = size;
}

Mapping::~Mapping() {
  if (data_) ::munmap(data_, size_);
}

void Mapping::release_pages(uint64_t begin, uint64_t end) const {
  const auto page = static_cast<uint64_t>(::sysconf(_SC_PAGESIZE));
  begin = (begin + page - 1) / page * page;
  end = end / page * page;
  if (begin < end) ::madvise(data_ + begin, end - begin, MADV_DONTNEED);
}

uint64_t resident_file_bytes() {
  const int descriptor = ::open("/proc/self/statm", O_RDONLY | O_CLOEXEC);
  if (descriptor < 0) return 0;
  char text[128] = {};
  const ssize_t read = ::read(descriptor, text, sizeof text - 1);
  ::close(descriptor);
  unsigned long long pages = 0;
  if (read <= 0 || std::sscanf(text, "%*u %*u %llu", &pages) != 1) return 0;
  return pages * static_cast<uint64_t>(::sysconf(_SC_PAGESIZE));
}

void Mapping::swap(Mapping& other) noexcept {
  std::swap(data_, other.data_);
  std::swap(size_, other.size_);
}

}  // namespace prof::viewer
