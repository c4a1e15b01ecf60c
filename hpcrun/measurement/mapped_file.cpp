#include <errno.h>
#include <fcntl.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

#include <system_error>

#include "hpcrun/measurement/read_extents.h"
#include "hpcrun/measurement/regular_file.h"

namespace prof {

MappedFile::MappedFile(const StoredFile& file) {
  const auto refuse = [&](MeasurementError::Kind kind, const std::string& why) {
    throw MeasurementError(kind, file.path.string() + ": " + why);
  };
  const auto cannot_open = [&](int error) {
    const bool forbidden = error == EACCES || error == EPERM;
    refuse(MeasurementError::Kind::CannotOpen,
           std::generic_category().message(error) + (forbidden ? "; analyze as the user who measured" : ""));
  };
  RegularFile opened(file.is_member() ? file.container : file.path);
  if (opened.error() == EINVAL || opened.error() == EFBIG)
    refuse(MeasurementError::Kind::NotAMeasurement, opened.reason());
  if (!opened.is_open()) cannot_open(opened.error());
  const struct stat status = opened.status();
  const int descriptor = opened.release();
  const auto whole = static_cast<uint64_t>(status.st_size);
  if (file.is_member() && (file.offset > whole || file.bytes > whole - file.offset)) {
    ::close(descriptor);
    refuse(MeasurementError::Kind::DamagedMember, "the container was truncated while it was read");
  }
  const auto size = static_cast<size_t>(file.is_member() ? file.bytes : whole);
  if (size == 0) {
    ::close(descriptor);
    refuse(MeasurementError::Kind::Empty,
           "the file is empty: the process ended, or the disk was full, before measuring began");
  }
  void* mapped = ::mmap(nullptr, size, PROT_READ, MAP_SHARED, descriptor,
                        static_cast<off_t>(file.is_member() ? file.offset : 0));
  const int error = errno;
  ::close(descriptor);
  if (mapped == MAP_FAILED) cannot_open(error);
  bytes_ = {static_cast<const uint8_t*>(mapped), size};
  owner_ = status.st_uid;
}

MappedFile::~MappedFile() {
  ::munmap(const_cast<uint8_t*>(bytes_.data()), bytes_.size());
}

void release_pages(std::span<const uint8_t> bytes) {
  constexpr uintptr_t kPage = 4096;
  const uintptr_t begin = reinterpret_cast<uintptr_t>(bytes.data()) / kPage * kPage;
  const uintptr_t end = (reinterpret_cast<uintptr_t>(bytes.data()) + bytes.size()) / kPage * kPage;
  if (begin < end) ::madvise(reinterpret_cast<void*>(begin), end - begin, MADV_DONTNEED);
}

}  // namespace prof
