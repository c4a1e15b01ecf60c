// Two threads book orders on customers. Defect: the customer of every order is found by a linear search.

#include <thread>

#include "orders.h"

// Not inlined, so that the profile names it with any compiler.
[[gnu::noinline]] static size_t find_customer(const std::vector<Customer>& customers, uint64_t number) {
  for (size_t i = 0; i < customers.size(); ++i) {
    if (customers[i].number == number) return i;
  }
  return customers.size();
}

static void book_orders(std::vector<Customer>& customers, const std::vector<Order>& orders) {
  for (const Order& order : orders) {
    const size_t index = find_customer(customers, order.customer);
    if (index < customers.size()) customers[index].cents += order.cents;
  }
}

int main(int argc, char** argv) {
  const size_t count = order_count(argc, argv);
  std::vector<Customer> first = make_customers();
  std::vector<Customer> second = make_customers();
  std::thread other([&] { book_orders(second, make_orders(count, 2)); });
  book_orders(first, make_orders(count, 1));
  other.join();
  print_totals(first);
  print_totals(second);
}
