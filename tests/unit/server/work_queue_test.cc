// What the server's threads do next: few long jobs at a time, short ones pass them, who pipelines comes last.
#include "server/work_queue.h"

#include <atomic>
#include <future>
#include <string>

#include <gtest/gtest.h>

namespace ridge::server {
namespace {

TEST(WorkQueue, ShortJobsPassLongOnes) {
  WorkQueue queue(4, 2);
  std::promise<void> gate;
  const std::shared_future<void> open = gate.get_future().share();
  std::atomic<int> begun = 0, done = 0;
  for (int i = 0; i < 6; ++i) {
    queue.add({.is_long = true, .run = [&, open] {
                 ++begun;
                 open.wait();
                 ++done;
               }});
  }
  std::promise<void> passed;
  queue.add({.run = [&] { passed.set_value(); }});
  EXPECT_EQ(passed.get_future().wait_for(std::chrono::seconds(30)), std::future_status::ready);
  EXPECT_LE(begun, 2);
  gate.set_value();
  for (int i = 0; i < 3000 && done < 6; ++i) std::this_thread::sleep_for(std::chrono::milliseconds(10));
  EXPECT_EQ(done, 6);
}

TEST(WorkQueue, WhoPipelinesComesLast) {
  WorkQueue queue(1, 1);
  std::promise<void> gate, end;
  queue.add({.run = [&] { gate.get_future().wait(); }});
  std::string order;
  for (const char name : {'a', 'b'}) queue.add({.pipelined = true, .run = [&order, name] { order += name; }});
  for (const char name : {'c', 'd'}) queue.add({.run = [&order, name] { order += name; }});
  queue.add({.pipelined = true, .run = [&] { end.set_value(); }});
  gate.set_value();
  end.get_future().wait();
  EXPECT_EQ(order, "cdab");
}

}  // namespace
}  // namespace ridge::server
