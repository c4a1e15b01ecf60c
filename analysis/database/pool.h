#pragma once
// A pool of objects that one thread uses at a time. It grows to the largest number that was in use at once.

#include <functional>
#include <memory>
#include <mutex>
#include <utility>
#include <vector>

namespace prof {

template <typename T>
class Pool {
 public:
  explicit Pool(std::function<std::unique_ptr<T>()> make) : make_(std::move(make)) {}

  // Borrows an object, and returns it to the pool at the end of its life.
  class Borrowed {
   public:
    explicit Borrowed(Pool& pool) : pool_(pool), thing_(pool.take()) {}
    ~Borrowed() { pool_.give_back(std::move(thing_)); }
    Borrowed(const Borrowed&) = delete;
    Borrowed& operator=(const Borrowed&) = delete;
    T& operator*() const { return *thing_; }
    T* operator->() const { return thing_.get(); }

   private:
    Pool& pool_;
    std::unique_ptr<T> thing_;
  };

  // Returns all objects. Must not be called while one is in use.
  const std::vector<std::unique_ptr<T>>& all() const { return free_; }

 private:
  std::unique_ptr<T> take() {
    const std::lock_guard guard(lock_);
    if (free_.empty()) return make_();
    std::unique_ptr<T> thing = std::move(free_.back());
    free_.pop_back();
    return thing;
  }
  void give_back(std::unique_ptr<T> thing) {
    const std::lock_guard guard(lock_);
    free_.push_back(std::move(thing));
  }

  std::function<std::unique_ptr<T>()> make_;
  std::mutex lock_;
  std::vector<std::unique_ptr<T>> free_;
};

}  // namespace prof
