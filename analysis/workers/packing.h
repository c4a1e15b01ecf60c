#pragma once
// Serializes values for another process of the same analysis, that is, of the same prof on the same kind of
// machine. Types other than numbers, texts and containers of them list their parts in a function for both
// directions:
//   template <typename Archive>
//   void fields(Archive& archive, Thing& thing) { archive(thing.name, thing.parts); }

#include <array>
#include <cstring>
#include <filesystem>
#include <map>
#include <stdexcept>
#include <string>
#include <string_view>
#include <type_traits>
#include <unordered_map>
#include <utility>
#include <vector>

namespace prof {

template <typename T>
constexpr bool kIsMap = false;
template <typename... T>
constexpr bool kIsMap<std::map<T...>> = true;
template <typename... T>
constexpr bool kIsMap<std::unordered_map<T...>> = true;
template <typename T>
constexpr bool kIsPair = false;
template <typename... T>
constexpr bool kIsPair<std::pair<T...>> = true;
template <typename T>
constexpr bool kIsVector = false;
template <typename... T>
constexpr bool kIsVector<std::vector<T...>> = true;

class Packer {
 public:
  template <typename... T>
  void operator()(const T&... values) {
    (put(values), ...);
  }
  const std::string& bytes() const { return bytes_; }

 private:
  void put_raw(const void* from, size_t bytes) { bytes_.append(static_cast<const char*>(from), bytes); }
  void put_size(size_t size) { put(uint64_t{size}); }

  template <typename T>
  void put(const T& value) {
    if constexpr (std::is_trivially_copyable_v<T>) {
      put_raw(&value, sizeof value);
    } else if constexpr (std::is_same_v<T, std::string>) {
      put_size(value.size());
      put_raw(value.data(), value.size());
    } else if constexpr (std::is_same_v<T, std::filesystem::path>) {
      put(value.native());
    } else if constexpr (kIsVector<T>) {
      put_size(value.size());
      if constexpr (std::is_trivially_copyable_v<typename T::value_type>)
        put_raw(value.data(), value.size() * sizeof(typename T::value_type));
      else
        for (const auto& one : value) put(one);
    } else if constexpr (kIsMap<T>) {
      put_size(value.size());
      for (const auto& [key, mapped] : value) {
        put(key);
        put(mapped);
      }
    } else if constexpr (kIsPair<T>) {
      put(value.first);
      put(value.second);
    } else {
      fields(*this, const_cast<T&>(value));  // reads it
    }
  }

  std::string bytes_;
};

// Thrown if the bytes are not what this prof packs. what() has the reason, in a few words.
class DamagedPart : public std::runtime_error {
 public:
  using std::runtime_error::runtime_error;
};

// Unpacks untrusted bytes. Sizes are checked here; callers check numbers that refer to something. All
// functions throw DamagedPart.
class Unpacker {
 public:
  explicit Unpacker(std::string_view bytes) : rest_(bytes) {}

  static void require(bool holds, const char* otherwise) {
    if (!holds) throw DamagedPart(otherwise);
  }

  template <typename... T>
  void operator()(T&... values) {
    (get(values), ...);
  }
  template <typename T>
  T get() {
    T value{};
    get(value);
    return value;
  }
  // Requires that nothing is left.
  void end() const { require(rest_.empty(), "it is longer than what it holds"); }

 private:
  void get_raw(void* to, size_t bytes) {
    require(bytes <= rest_.size(), kTooShort);
    if (bytes > 0) std::memcpy(to, rest_.data(), bytes);
    rest_.remove_prefix(bytes);
  }
  // Reads the number of elements that take at least `bytes_of_one` bytes each.
  size_t get_size(size_t bytes_of_one) {
    const auto size = get<uint64_t>();
    require(size <= rest_.size() / bytes_of_one, kTooShort);
    return static_cast<size_t>(size);
  }

  template <typename T>
  void get(T& value) {
    if constexpr (std::is_same_v<T, bool>) {
      const auto byte = get<uint8_t>();
      require(byte <= 1, "a truth value is neither true nor false");
      value = byte != 0;
    } else if constexpr (std::is_trivially_copyable_v<T>) {
      get_raw(&value, sizeof value);
    } else if constexpr (std::is_same_v<T, std::string>) {
      value.resize(get_size(1));
      get_raw(value.data(), value.size());
    } else if constexpr (std::is_same_v<T, std::filesystem::path>) {
      value = get<std::string>();
    } else if constexpr (kIsVector<T>) {
      using One = typename T::value_type;
      if constexpr (std::is_trivially_copyable_v<One>) {
        value.resize(get_size(sizeof(One)));
        get_raw(value.data(), value.size() * sizeof(One));
      } else {
        value.resize(get_size(1));
        for (One& one : value) get(one);
      }
    } else if constexpr (kIsMap<T>) {
      value.clear();
      for (size_t left = get_size(1); left > 0; --left) {
        auto key = get<typename T::key_type>();
        get(value[std::move(key)]);
      }
    } else if constexpr (kIsPair<T>) {
      get(value.first);
      get(value.second);
    } else {
      fields(*this, value);
    }
  }

  static constexpr char kTooShort[] = "it is shorter than what it holds";
  std::string_view rest_;
};

}  // namespace prof
