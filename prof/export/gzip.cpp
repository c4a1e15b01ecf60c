#include "prof/export/gzip.h"

#include <new>

namespace prof {
namespace {

constexpr size_t kChunkBytes = 1 << 16;
constexpr int kLevel = 1;  // higher levels gain too little for their time: profiles are repetitive
constexpr int kGzipWindowBits = 15 + 16;  // has zlib write a gzip header

}  // namespace

GzipOutput::GzipOutput(Output& out) : out_(out), chunk_(kChunkBytes) {
  constexpr int kDefaultMemory = 8;
  if (deflateInit2(&stream_, kLevel, Z_DEFLATED, kGzipWindowBits, kDefaultMemory, Z_DEFAULT_STRATEGY) != Z_OK)
    throw std::bad_alloc();
  constexpr int kUnix = 3;
  header_.os = kUnix;
  // zlib declares its input as writable.
  header_.comment = reinterpret_cast<Bytef*>(const_cast<char*>(kGzipMark));
  deflateSetHeader(&stream_, &header_);
}

GzipOutput::~GzipOutput() {
  deflateEnd(&stream_);
}

void GzipOutput::deflate(std::string_view bytes, int flush) {
  // zlib declares its input as writable.
  stream_.next_in = reinterpret_cast<Bytef*>(const_cast<char*>(bytes.data()));
  stream_.avail_in = static_cast<uInt>(bytes.size());
  do {
    stream_.next_out = reinterpret_cast<Bytef*>(chunk_.data());
    stream_.avail_out = static_cast<uInt>(chunk_.size());
    ::deflate(&stream_, flush);
    out_.write({chunk_.data(), chunk_.size() - stream_.avail_out});
  } while (stream_.avail_out == 0);
}

}  // namespace prof
