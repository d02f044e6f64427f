#include "data.h"

namespace text_lstm {

Streams::Streams(const std::vector<std::int64_t>& characters, std::size_t begin, std::size_t end, std::int64_t count) {
  const auto streams = static_cast<std::size_t>(count), length = (end - begin - 1) / streams;
  std::vector<std::int64_t> inputs(length * streams), targets(length * streams);
  for (std::size_t s = 0; s < streams; ++s)
    for (std::size_t t = 0; t < length; ++t) {
      inputs[t * streams + s] = characters[begin + s * length + t];
      targets[t * streams + s] = characters[begin + s * length + t + 1];
    }
  const crisol::Shape shape{static_cast<std::int64_t>(length), count};
  inputs_ = crisol::from_vector(inputs, shape);
  targets_ = crisol::from_vector(targets, shape);
}

Streams Streams::part(std::int64_t first, std::int64_t count) const {
  Streams some;
  some.inputs_ = inputs_.narrow(1, first, count).contiguous();
  some.targets_ = targets_.narrow(1, first, count).contiguous();
  return some;
}

}  // namespace text_lstm
