// crisol_slow_link NAMESPACE NAMESPACE DEVICE MICROSECONDS MBIT: a network between two network namespaces with latency
// and a rate, for kernels without tc's netem. It makes the TUN device DEVICE in both namespaces (files in /run/netns),
// prints "ready", and hands packets over until it is killed.
#include <fcntl.h>
#include <linux/if.h>
#include <linux/if_tun.h>
#include <sched.h>
#include <sys/ioctl.h>
#include <sys/prctl.h>
#include <unistd.h>

#include <array>
#include <chrono>
#include <condition_variable>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <deque>
#include <mutex>
#include <string>
#include <thread>
#include <utility>
#include <vector>

namespace {

using Clock = std::chrono::steady_clock;

[[noreturn]] void give_up(const std::string& what) {
  std::perror(what.c_str());
  std::_Exit(1);
}

/// The end of a TUN device in a namespace. This thread stays in the namespace.
int open_tun(const std::string& place, const char* name) {
  const int place_file = open(("/run/netns/" + place).c_str(), O_RDONLY | O_CLOEXEC);
  if (place_file < 0 || setns(place_file, CLONE_NEWNET) != 0) give_up("namespace " + place);
  close(place_file);
  const int tun = open("/dev/net/tun", O_RDWR | O_CLOEXEC);
  if (tun < 0) give_up("/dev/net/tun");
  ifreq request{};
  request.ifr_flags = IFF_TUN | IFF_NO_PI;
  std::snprintf(request.ifr_name, sizeof request.ifr_name, "%s", name);
  if (ioctl(tun, TUNSETIFF, &request) != 0) give_up("TUNSETIFF");
  return tun;
}

/// Packets in one direction. Each leaves when the one before it has left and its own bits are sent, and arrives after
/// the latency.
class Direction {
 public:
  Direction(int from, int to, std::chrono::microseconds latency, double bytes_per_second)
      : from_(from), to_(to), latency_(latency), seconds_per_byte_(1 / bytes_per_second) {}

  void receive() {
    std::array<char, 65536> bytes;
    Clock::time_point free = Clock::now();
    for (;;) {
      const ssize_t size = read(from_, bytes.data(), bytes.size());
      if (size < 0) give_up("read");
      const std::chrono::duration<double> own(static_cast<double>(size) * seconds_per_byte_);
      free = std::max(free, Clock::now()) + std::chrono::duration_cast<Clock::duration>(own);
      std::unique_lock lock(mutex_);
      changed_.wait(lock, [this] { return packets_.size() < max_packets; });
      packets_.emplace_back(free + latency_, std::vector<char>(bytes.data(), bytes.data() + size));
      changed_.notify_all();
    }
  }

  void send() {
    prctl(PR_SET_TIMERSLACK, 1);
    for (;;) {
      std::unique_lock lock(mutex_);
      changed_.wait(lock, [this] { return !packets_.empty(); });
      const auto [when, packet] = std::move(packets_.front());
      packets_.pop_front();
      changed_.notify_all();
      lock.unlock();
      std::this_thread::sleep_until(when);
      // A device that is down loses its packets.
      if (write(to_, packet.data(), packet.size()) < 0 && errno != EIO) give_up("write");
    }
  }

 private:
  static constexpr std::size_t max_packets = 1000;  // As netem.

  const int from_, to_;
  const std::chrono::microseconds latency_;
  const double seconds_per_byte_;
  std::mutex mutex_;
  std::condition_variable changed_;
  std::deque<std::pair<Clock::time_point, std::vector<char>>> packets_;
};

}  // namespace

int main(int argc, char** argv) {
  if (argc != 6) return std::fputs("crisol_slow_link NAMESPACE NAMESPACE DEVICE MICROSECONDS MBIT\n", stderr), 2;
  const int first = open_tun(argv[1], argv[3]), second = open_tun(argv[2], argv[3]);
  const std::chrono::microseconds latency(std::atoi(argv[4]));
  const double rate = std::atof(argv[5]) * 1e6 / 8;
  Direction there(first, second, latency, rate), back(second, first, latency, rate);
  std::puts("ready");
  std::fflush(stdout);
  std::thread all[]{std::thread([&] { there.receive(); }), std::thread([&] { there.send(); }),
                    std::thread([&] { back.receive(); }), std::thread([&] { back.send(); })};
  for (std::thread& thread : all) thread.join();
  return 0;
}
