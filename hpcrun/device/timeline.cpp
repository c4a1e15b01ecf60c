#include "hpcrun/device/timeline.h"

#include <algorithm>
#include <cassert>
#include <new>

namespace hpcrun {

PieceQueue::Chunk* PieceQueue::take_chunk(Arena& arena) noexcept {
  // Takes all at once: with one taker, no other thread changes what follows the first.
  Chunk* chunk = free_.exchange(nullptr, std::memory_order_acquire);
  if (!chunk) {
    void* memory = arena.allocate(sizeof(Chunk));
    return memory ? new (memory) Chunk{} : nullptr;
  }
  Chunk* rest = chunk->next.load(std::memory_order_relaxed);
  chunk->next.store(nullptr, std::memory_order_relaxed);
  chunk->count.store(0, std::memory_order_relaxed);
  while (rest) {
    Chunk* const next = rest->next.load(std::memory_order_relaxed);
    recycle(rest);
    rest = next;
  }
  return chunk;
}

void PieceQueue::recycle(Chunk* chunk) noexcept {
  Chunk* first = free_.load(std::memory_order_relaxed);
  do chunk->next.store(first, std::memory_order_relaxed);
  while (!free_.compare_exchange_weak(first, chunk, std::memory_order_release, std::memory_order_relaxed));
}

bool PieceQueue::push(Arena& arena, const TimelinePiece& piece) noexcept {
  uint32_t count = tail_ ? tail_->count.load(std::memory_order_relaxed) : Chunk::kPieces;
  if (count == Chunk::kPieces) {
    Chunk* const fresh = take_chunk(arena);
    if (!fresh) return false;
    std::atomic<Chunk*>& link = tail_ ? tail_->next : first_;
    tail_ = fresh;
    link.store(fresh, std::memory_order_release);
    count = 0;
  }
  tail_->pieces[count] = piece;
  tail_->count.store(count + 1, std::memory_order_release);
  return true;
}

const TimelinePiece* PieceQueue::front() noexcept {
  if (!head_) head_ = first_.load(std::memory_order_acquire);
  if (!head_) return nullptr;
  if (popped_ == Chunk::kPieces) {
    Chunk* const next = head_->next.load(std::memory_order_acquire);
    if (!next) return nullptr;
    recycle(head_);
    head_ = next;
    popped_ = 0;
  }
  return popped_ < head_->count.load(std::memory_order_acquire) ? &head_->pieces[popped_] : nullptr;
}

void PieceQueue::pop() noexcept {
  assert(head_ && popped_ < head_->count.load(std::memory_order_relaxed));  // front() returned a piece
  ++popped_;
}

// The end is stored last: a consumer that reads it also sees the piece.
void Timeline::push(Arena& arena, const TimelinePiece& piece) noexcept {
  if (pieces_.push(arena, piece)) open_ = !piece.cell;
  last_.store(piece.end, std::memory_order_release);
}

void Timeline::cut(Arena& arena, const DeviceActivity& activity, uint64_t now, ValueCell* cell) noexcept {
  const uint64_t begin = last_.load(std::memory_order_relaxed);
  if (now <= begin) return;
  // In this order: a completing task stores its end before it stops being outstanding.
  const bool nothing_to_do = !activity.others.load(std::memory_order_relaxed) &&
                             !activity.outstanding.load(std::memory_order_acquire) &&
                             activity.last_end.load(std::memory_order_relaxed) <= begin;
  if (!nothing_to_do || !cell || open_) return push(arena, {begin, now, cell});
  add_to(cell, (now - begin) * activity.devices.load(std::memory_order_relaxed));
  last_.store(now, std::memory_order_release);
}

void Timeline::cut_across_pause(Arena& arena, uint64_t now, ValueCell* cell) noexcept {
  const uint64_t begin = last_.load(std::memory_order_relaxed);
  if (now > begin) push(arena, {begin, now, cell});
}

void Timeline::cut_open(Arena& arena, uint64_t now) noexcept {
  const uint64_t begin = last_.load(std::memory_order_relaxed);
  if (now > begin) push(arena, {begin, now, nullptr});
}

void Timeline::skip_to(uint64_t now) noexcept {
  last_.store(std::max(now, last_.load(std::memory_order_relaxed)), std::memory_order_release);
}

}  // namespace hpcrun
