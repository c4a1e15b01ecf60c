// hot_loop with its defect removed: customers are found through a hash table.

#include <thread>
#include <unordered_map>

#include "orders.h"

static void book_orders(std::vector<Customer>& customers, const std::vector<Order>& orders) {
  std::unordered_map<uint64_t, size_t> index_of;
  for (size_t i = 0; i < customers.size(); ++i) index_of.emplace(customers[i].number, i);
  for (const Order& order : orders) {
    const auto found = index_of.find(order.customer);
    if (found != index_of.end()) customers[found->second].cents += order.cents;
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
