#include "dist/links/shared_mapping.h"

#ifdef __linux__
#include <fcntl.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cerrno>
#include <cstdint>
#include <cstring>
#include <random>
#include <system_error>
#endif

namespace crisol::dist {

#ifdef __linux__

namespace {

/// What a rank offers to the others: the path under which they find its file.
struct Offer {
  std::int64_t process;
  std::int32_t file;
  std::int32_t error;      ///< 0, or errno if there is no file.
  std::uint32_t token[4];  ///< The first bytes of the file. They identify it, because a process has other numbers
                           /// within a container.
};

class OpenFile {
 public:
  explicit OpenFile(int number) : number_(number) {}
  ~OpenFile() {
    if (number_ >= 0) close(number_);
  }
  OpenFile(const OpenFile&) = delete;
  OpenFile& operator=(const OpenFile&) = delete;
  int number() const noexcept { return number_; }

 private:
  const int number_;
};

std::byte* map(const OpenFile& file, std::size_t bytes) {
  void* const memory = mmap(nullptr, bytes, PROT_READ | PROT_WRITE, MAP_SHARED, file.number(), 0);
  return memory == MAP_FAILED ? nullptr : static_cast<std::byte*>(memory);
}

// fallocate() reports missing memory. Without it, the first write to a page would end the process.
std::byte* make(const OpenFile& file, std::size_t bytes, Offer& offer) {
  offer = {getpid(), file.number(), 0, {}};
  std::byte* const memory =
      file.number() >= 0 && fallocate(file.number(), 0, 0, static_cast<off_t>(bytes)) == 0 ? map(file, bytes) : nullptr;
  if (memory == nullptr) {
    offer.error = errno;
    return nullptr;
  }
  std::random_device random;
  for (std::uint32_t& word : offer.token) word = random();
  std::memcpy(memory, offer.token, sizeof offer.token);
  return memory;
}

// Returns null and sets errno if there is no such file.
std::byte* find(const Offer& offer, std::size_t bytes) {
  const std::string path = "/proc/" + std::to_string(offer.process) + "/fd/" + std::to_string(offer.file);
  const OpenFile file(::open(path.c_str(), O_RDWR | O_CLOEXEC));
  struct stat found {};
  if (file.number() < 0 || fstat(file.number(), &found) != 0) return nullptr;
  std::byte* const memory = found.st_size == static_cast<off_t>(bytes) ? map(file, bytes) : nullptr;
  if (memory != nullptr && std::memcmp(memory, offer.token, sizeof offer.token) == 0) return memory;
  if (memory != nullptr) munmap(memory, bytes);
  errno = ENOENT;
  return nullptr;
}

}  // namespace

std::unique_ptr<SharedMapping> SharedMapping::open(MPI_Comm local, std::size_t bytes, std::string& reason) {
  int rank = 0;
  check_mpi(MPI_Comm_rank(local, &rank), "MPI_Comm_rank");
  const OpenFile file(rank == 0 ? memfd_create("crisol ranks", MFD_CLOEXEC) : -1);
  Offer offer{};
  std::byte* memory = rank == 0 ? make(file, bytes, offer) : nullptr;
  check_mpi(MPI_Bcast(&offer, sizeof offer, MPI_BYTE, 0, local), "MPI_Bcast");
  int error = offer.error, first_error = 0;
  if (rank != 0 && error == 0) {
    memory = find(offer, bytes);
    if (memory == nullptr) error = errno;
  }
  // The file stays open until all ranks have mapped it.
  check_mpi(MPI_Allreduce(&error, &first_error, 1, MPI_INT, MPI_MAX, local), "MPI_Allreduce");
  std::unique_ptr<SharedMapping> mapping(memory == nullptr ? nullptr : new SharedMapping(memory, bytes));
  if (first_error != 0) {
    reason = std::generic_category().message(first_error);
    return nullptr;
  }
  if (rank == 0) std::memset(memory, 0, sizeof offer.token);
  check_mpi(MPI_Barrier(local), "MPI_Barrier");
  return mapping;
}

SharedMapping::~SharedMapping() { munmap(memory_, bytes_); }

#else

std::unique_ptr<SharedMapping> SharedMapping::open(MPI_Comm, std::size_t, std::string& reason) {
  reason = "this system has no files without a name";
  return nullptr;
}

SharedMapping::~SharedMapping() = default;

#endif

}  // namespace crisol::dist
