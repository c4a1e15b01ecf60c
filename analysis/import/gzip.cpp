#include <fmt/format.h>
#include <zlib.h>

#include "analysis/import/formats.h"

namespace prof {
namespace {

// Limits the expansion, because a few bytes can be made to expand into any number.
constexpr size_t kMaxContents = size_t{1} << 30;
constexpr size_t kBlockBytes = size_t{1} << 18;
constexpr int kWindowBitsWithGzipHeader = 15 + 16;

class Inflation {
 public:
  Inflation() { usable_ = inflateInit2(&stream_, kWindowBitsWithGzipHeader) == Z_OK; }
  Inflation(const Inflation&) = delete;
  ~Inflation() { inflateEnd(&stream_); }
  bool usable() const { return usable_; }
  z_stream& stream() { return stream_; }

 private:
  z_stream stream_{};
  bool usable_ = false;
};

}  // namespace

bool is_gzip(std::span<const uint8_t> bytes) {
  return bytes.size() >= 2 && bytes[0] == 0x1f && bytes[1] == 0x8b;
}

std::vector<uint8_t> gunzip(std::span<const uint8_t> bytes, const ImportSource& source) {
  Inflation inflation;
  z_stream& stream = inflation.stream();
  std::vector<uint8_t> out;
  int status = inflation.usable() ? Z_OK : Z_MEM_ERROR;
  while (status == Z_OK) {
    if (out.size() >= kMaxContents)
      throw ImportError(ImportError::Kind::Unsupported,
                        fmt::format("{}: more than {} MiB uncompressed, the limit; split it", source.name,
                                    kMaxContents >> 20));
    if (stream.avail_in == 0) {
      const size_t piece = std::min(bytes.size(), size_t{UINT32_MAX});
      stream.next_in = const_cast<Bytef*>(bytes.data());
      stream.avail_in = static_cast<uInt>(piece);
      bytes = bytes.subspan(piece);
    }
    const size_t before = out.size();
    out.resize(before + kBlockBytes);
    stream.next_out = out.data() + before;
    stream.avail_out = kBlockBytes;
    status = inflate(&stream, Z_NO_FLUSH);
    out.resize(out.size() - stream.avail_out);
    // A file may contain several consecutive gzip streams.
    if (status == Z_STREAM_END && (stream.avail_in != 0 || !bytes.empty())) status = inflateReset(&stream);
  }
  if (status != Z_STREAM_END)
    throw ImportError(
        ImportError::Kind::Damaged,
        fmt::format("{}: damaged or incomplete gzip data; copy or record it again", source.name));
  return out;
}

}  // namespace prof
