#include <algorithm>
#include <functional>
#include <iostream>
#include <map>
#include <regex>
#include <string>
#include <unordered_map>
#include <variant>
#include <vector>
template <int N>
struct Chain {
  static std::map<int, std::vector<std::string>> build() {
    auto m = Chain<N - 1>::build();
    m[N].push_back(std::to_string(N));
    std::sort(m[N].begin(), m[N].end());
    return m;
  }
};
template <>
struct Chain<0> {
  static std::map<int, std::vector<std::string>> build() { return {}; }
};
int main() {
  std::regex word("[a-z]+(_[a-z]+)*");
  std::cout << Chain<60>::build().size() << std::regex_match("some_name", word) << "\n";
}
