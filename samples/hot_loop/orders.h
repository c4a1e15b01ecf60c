#pragma once
// Shared by both versions: customers, orders and the totals that are printed.

#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <vector>

struct Customer {
  uint64_t number;
  uint64_t cents = 0;
};

struct Order {
  uint64_t customer;
  uint64_t cents;
};

constexpr size_t kCustomers = 12'000;

// Customer numbers are spread over 64 bits, so they cannot serve as an index.
inline uint64_t customer_number(uint64_t index) {
  return (index + 1) * 0x9E3779B97F4A7C15u;
}

inline std::vector<Customer> make_customers() {
  std::vector<Customer> customers;
  customers.reserve(kCustomers);
  for (size_t i = 0; i < kCustomers; ++i) customers.push_back({customer_number(i)});
  return customers;
}

inline std::vector<Order> make_orders(size_t count, uint64_t seed) {
  std::vector<Order> orders;
  orders.reserve(count);
  uint64_t state = seed;
  for (size_t i = 0; i < count; ++i) {
    state = state * 6364136223846793005u + 1442695040888963407u;
    orders.push_back({customer_number((state >> 33) % kCustomers), (state >> 20) % 10'000});
  }
  return orders;
}

inline void print_totals(const std::vector<Customer>& customers) {
  uint64_t total = 0;
  uint64_t largest = 0;
  for (const Customer& customer : customers) {
    total += customer.cents;
    if (customer.cents > largest) largest = customer.cents;
  }
  std::printf("total %llu, largest customer %llu\n", static_cast<unsigned long long>(total),
              static_cast<unsigned long long>(largest));
}

// Returns the orders per thread (of two): the first argument, or a number that takes about a second.
inline size_t order_count(int argc, char** argv) {
  return argc > 1 ? std::strtoull(argv[1], nullptr, 10) : 300'000;
}
