#include "dist/collectives.h"

#include <utility>

#include "crisol/dtype_table.h"
#include "crisol/host_access.h"
#include "crisol/opencl_interop.h"

namespace crisol::dist {

namespace {

const char* name_of(ReduceOp op) noexcept {
  switch (op) {
    case ReduceOp::sum: return "sum";
    case ReduceOp::mean: return "mean";
    case ReduceOp::min: return "min";
    case ReduceOp::max: return "max";
  }
  return "?";
}

void require_defined(const char* op, const Tensor& x) { require(x.defined(), op, "the tensor is undefined"); }

void require_combines(const char* op, const Tensor& x, ReduceOp how) {
  require(how != ReduceOp::mean || is_floating(x.dtype()), op, "a mean of ", x.dtype(), "; only ",
          TypesThat{is_floating}, " have means");
}

/// Runs `exchange` on the elements of x, on the worker's thread. With `writes`, x gets the elements that the exchange
/// wrote.
template <class Exchange>
void with_elements(Session& session, Tensor& x, bool writes, const Exchange& exchange) {
  if (writes) opencl_buffer_for_writing(x);  // Refuses a leaf that requires a gradient.
  Tensor flat = x.contiguous();
  HostAccess access(flat);
  access.begin();
  session.worker().run([&](Link& link) {
    link.wait([&] { return access.ready(); });
    exchange(link, static_cast<std::byte*>(access.wait()));
    access.end(writes);
  });
  access.join();
  if (writes && !flat.shares_storage_with(x)) x.copy_from(flat);
}

std::size_t bytes_of(const Tensor& x) { return static_cast<std::size_t>(x.numel()) * size_of(x.dtype()); }

/// A new tensor whose elements `exchange` makes from the elements of x.
template <class Exchange>
Tensor from_elements(Session& session, const Tensor& x, const Shape& shape, const Exchange& exchange) {
  Tensor result = empty(shape, x.dtype(), x.device());
  Tensor source = x.detach();
  HostAccess access(result);
  access.begin(false);
  with_elements(session, source, false, [&](Link& link, std::byte* elements) {
    link.wait([&] { return access.ready(); });
    exchange(link, elements, static_cast<std::byte*>(access.wait()));
    access.end(true);
  });
  access.join();
  return result;
}

Shape with_rows(const Tensor& x, std::int64_t rows) {
  Shape shape = x.shape();
  shape[0] = rows;
  return shape;
}

}  // namespace

std::string description_of(const Tensor& x) { return concat(x.dtype(), ' ', x.shape()); }

std::string descriptions_of(const NamedTensors& tensors) {
  std::string text;
  for (const auto& [name, tensor] : tensors)
    text += concat(text.empty() ? "" : ", ", name, ' ', description_of(tensor));
  return text;
}

Tensor reduce_scatter_weighted(Session& session, const Tensor& x, const std::vector<double>& weights) {
  const ReduceOp how = weights.empty() ? ReduceOp::mean : ReduceOp::sum;
  return from_elements(
      session, x, with_rows(x, x.size(0) / session.world()), [&](Link& link, const std::byte* all, std::byte* own) {
        link.reduce_scatter(all, static_cast<std::size_t>(x.numel() / session.world()), how, x.dtype(), weights, own);
      });
}

void broadcast_unchecked(Session& session, Tensor x, int root) {
  with_elements(session, x, true,
                [&](Link& link, std::byte* elements) { link.broadcast(elements, bytes_of(x), root); });
}

void all_reduce(Tensor x, ReduceOp how) {
  constexpr const char* op = "all_reduce";
  Session& session = Session::get(op);
  require_defined(op, x);
  require_combines(op, x, how);
  session.require_same(op, "what they call", concat(op, ' ', name_of(how), " of ", description_of(x)));
  with_elements(session, x, true, [&](Link& link, std::byte* elements) {
    link.all_reduce(elements, static_cast<std::size_t>(x.numel()), how, x.dtype());
  });
}

void broadcast(Tensor x, int root) {
  constexpr const char* op = "broadcast";
  Session& session = Session::get(op);
  require_defined(op, x);
  require(root >= 0 && root < session.world(), op, "root ", root, " of ", session.world(), " ranks");
  session.require_same(op, "what they call", concat(op, " from rank ", root, " of ", description_of(x)));
  broadcast_unchecked(session, std::move(x), root);
}

Tensor all_gather(const Tensor& x) {
  constexpr const char* op = "all_gather";
  Session& session = Session::get(op);
  require_defined(op, x);
  require(x.dim() > 0, op, "a tensor without axes cannot be joined; unsqueeze(0) gives it one");
  session.require_same(op, "what they call", concat(op, " of ", description_of(x)));
  return from_elements(
      session, x, with_rows(x, x.size(0) * session.world()),
      [&](Link& link, const std::byte* own, std::byte* all) { link.all_gather(own, bytes_of(x), all); });
}

Tensor reduce_scatter(const Tensor& x, ReduceOp how) {
  constexpr const char* op = "reduce_scatter";
  Session& session = Session::get(op);
  require_defined(op, x);
  require_combines(op, x, how);
  require(x.dim() > 0 && x.size(0) % session.world() == 0, op, "axis 0 of shape ", x.shape(), " cannot be cut into ",
          session.world(), " equal parts");
  session.require_same(op, "what they call", concat(op, ' ', name_of(how), " of ", description_of(x)));
  return from_elements(
      session, x, with_rows(x, x.size(0) / session.world()), [&](Link& link, const std::byte* all, std::byte* own) {
        link.reduce_scatter(all, static_cast<std::size_t>(x.numel() / session.world()), how, x.dtype(), {}, own);
      });
}

}  // namespace crisol::dist
