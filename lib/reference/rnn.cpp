#include "reference/rnn.h"

#include <cmath>

namespace crisol::reference {

namespace {

double logistic(double x) { return 1 / (1 + std::exp(-x)); }

std::size_t index(std::int64_t i) { return static_cast<std::size_t>(i); }

// The sum over k of w[row][k] * v[k].
double dot(const Numbers& w, std::int64_t row, const Numbers& v) {
  double sum = 0;
  for (std::size_t k = 0; k < v.size(); ++k) sum += w[index(row) * v.size() + k] * v[k];
  return sum;
}

// dv += d times row `row` of w; dw[row] += d * v.
void dot_backward(double d, const Numbers& w, std::int64_t row, const Numbers& v, Numbers& dw, Numbers& dv) {
  for (std::size_t k = 0; k < v.size(); ++k) {
    dw[index(row) * v.size() + k] += d * v[k];
    dv[k] += d * w[index(row) * v.size() + k];
  }
}

Numbers row_of(const Numbers& all, std::int64_t row, std::int64_t size) {
  return {all.begin() + row * size, all.begin() + (row + 1) * size};
}

void set_row(Numbers& all, std::int64_t row, const Numbers& values) {
  std::copy(values.begin(), values.end(), all.begin() + row * static_cast<std::int64_t>(values.size()));
}

void add_row(Numbers& all, std::int64_t row, const Numbers& values) {
  for (std::size_t k = 0; k < values.size(); ++k) all[index(row) * values.size() + k] += values[k];
}

// One step of one sequence, with all values that its backward needs.
struct Step {
  Numbers x, h, c;  // The values before the step.
  Numbers u, v;     // W_ih x + b_ih and W_hh h + b_hh
  Numbers output;   // The output before the projection.
  Numbers next_h, next_c;
};

double bias_of(const Numbers& bias, std::int64_t row) { return bias.empty() ? 0 : bias[index(row)]; }

Step step_forward(const RnnLayer& l, const RnnNumbers& w, const Numbers& x, const Numbers& h, const Numbers& c) {
  Step s{x, h, c, {}, {}, Numbers(index(l.hidden)), {}, c};
  const std::int64_t n = l.hidden;
  for (std::int64_t row = 0; row < l.gates() * n; ++row) {
    s.u.push_back(dot(w.weight_ih, row, x) + bias_of(w.bias_ih, row));
    s.v.push_back(dot(w.weight_hh, row, h) + bias_of(w.bias_hh, row));
  }
  for (std::int64_t j = 0; j < n; ++j) {
    const auto both = [&](std::int64_t gate) { return s.u[index(gate * n + j)] + s.v[index(gate * n + j)]; };
    double& out = s.output[index(j)];
    if (l.cell == RnnCell::tanh) out = std::tanh(both(0));
    if (l.cell == RnnCell::relu) out = std::fmax(both(0), 0);
    if (l.cell == RnnCell::lstm) {
      s.next_c[index(j)] = logistic(both(1)) * c[index(j)] + logistic(both(0)) * std::tanh(both(2));
      out = logistic(both(3)) * std::tanh(s.next_c[index(j)]);
    }
    if (l.cell == RnnCell::gru) {
      const double candidate = std::tanh(s.u[index(2 * n + j)] + logistic(both(0)) * s.v[index(2 * n + j)]);
      out = (1 - logistic(both(1))) * candidate + logistic(both(1)) * h[index(j)];
    }
  }
  s.next_h = s.output;
  if (l.projection > 0) {
    s.next_h.clear();
    for (std::int64_t p = 0; p < l.projection; ++p) s.next_h.push_back(dot(w.weight_hr, p, s.output));
  }
  return s;
}

// Computes the gradients of a unit's u and v from d, the gradient of its output. Adds to dh. dc is the gradient of the
// cell state after the step, and becomes the gradient of the cell state before the step.
void unit_backward(const RnnLayer& l, const Step& s, std::int64_t j, double d, Numbers& du, Numbers& dv, Numbers& dh,
                   Numbers& dc) {
  const std::int64_t n = l.hidden;
  const auto at = [&](std::int64_t gate) { return index(gate * n + j); };
  const auto both = [&](std::int64_t gate) { return s.u[at(gate)] + s.v[at(gate)]; };
  const auto set = [&](std::int64_t gate, double value) { du[at(gate)] = dv[at(gate)] = value; };
  if (l.cell == RnnCell::tanh) set(0, d * (1 - s.output[index(j)] * s.output[index(j)]));
  if (l.cell == RnnCell::relu) set(0, both(0) > 0 ? d : 0);
  if (l.cell == RnnCell::lstm) {
    const double i = logistic(both(0)), f = logistic(both(1)), g = std::tanh(both(2)), o = logistic(both(3));
    const double t = std::tanh(s.next_c[index(j)]);
    const double dcell = dc[index(j)] + d * o * (1 - t * t);
    set(0, dcell * g * i * (1 - i));
    set(1, dcell * s.c[index(j)] * f * (1 - f));
    set(2, dcell * i * (1 - g * g));
    set(3, d * t * o * (1 - o));
    dc[index(j)] = dcell * f;
  }
  if (l.cell == RnnCell::gru) {
    const double r = logistic(both(0)), z = logistic(both(1)), v = s.v[at(2)];
    const double candidate = std::tanh(s.u[at(2)] + r * v);
    const double dcandidate = d * (1 - z) * (1 - candidate * candidate);
    set(0, dcandidate * v * r * (1 - r));
    set(1, d * (s.h[index(j)] - candidate) * z * (1 - z));
    set(2, dcandidate);
    dv[at(2)] = dcandidate * r;
    dh[index(j)] += d * z;
  }
}

// dh and dc are the gradients of the states after the step, and become the gradients of the states before the
// step.
void step_backward(const RnnLayer& l, const RnnNumbers& w, const Step& s, Numbers& dh, Numbers& dc, Numbers& dx,
                   RnnNumbers& dw) {
  Numbers doutput = dh;
  if (l.projection > 0) {
    doutput.assign(index(l.hidden), 0);
    for (std::int64_t p = 0; p < l.projection; ++p)
      dot_backward(dh[index(p)], w.weight_hr, p, s.output, dw.weight_hr, doutput);
  }
  dh.assign(s.h.size(), 0);
  Numbers du(s.u.size()), dv(s.v.size());
  for (std::int64_t j = 0; j < l.hidden; ++j) unit_backward(l, s, j, doutput[index(j)], du, dv, dh, dc);
  for (std::int64_t row = 0; row < l.gates() * l.hidden; ++row) {
    dot_backward(du[index(row)], w.weight_ih, row, s.x, dw.weight_ih, dx);
    dot_backward(dv[index(row)], w.weight_hh, row, s.h, dw.weight_hh, dh);
    if (l.bias) dw.bias_ih[index(row)] += du[index(row)];
    if (l.bias) dw.bias_hh[index(row)] += dv[index(row)];
  }
}

// The steps of sequence b in the order in which they run.
std::vector<std::int64_t> order_of(const RnnLayer& l, std::int64_t b) {
  std::vector<std::int64_t> order;
  for (std::int64_t n = 0; n < l.length(b); ++n) order.push_back(l.reverse ? l.length(b) - 1 - n : n);
  return order;
}

std::vector<Step> sequence_forward(const RnnLayer& l, const RnnInputs& in, const RnnNumbers& w, std::int64_t b) {
  std::vector<Step> steps;
  Numbers h = row_of(in.h0, b, l.outputs());
  Numbers c = l.cell == RnnCell::lstm ? row_of(in.c0, b, l.hidden) : Numbers();
  for (const std::int64_t t : order_of(l, b)) {
    steps.push_back(step_forward(l, w, row_of(in.x, t * l.batch + b, l.inputs), h, c));
    h = steps.back().next_h;
    c = steps.back().next_c;
  }
  return steps;
}

}  // namespace

RnnOutputs rnn_forward(const RnnLayer& l, const RnnInputs& in, const RnnNumbers& w) {
  RnnOutputs out{Numbers(index(l.steps * l.batch * l.outputs())), in.h0, in.c0};
  for (std::int64_t b = 0; b < l.batch; ++b) {
    const std::vector<Step> steps = sequence_forward(l, in, w, b);
    const std::vector<std::int64_t> order = order_of(l, b);
    for (std::size_t n = 0; n < steps.size(); ++n) set_row(out.y, order[n] * l.batch + b, steps[n].next_h);
    set_row(out.h_n, b, steps.back().next_h);
    if (l.cell == RnnCell::lstm) set_row(out.c_n, b, steps.back().next_c);
  }
  return out;
}

RnnGradients rnn_backward(const RnnLayer& l, const RnnInputs& in, const RnnNumbers& w, const RnnOutputs& dout) {
  const auto zeros_like = [](const Numbers& values) { return Numbers(values.size(), 0); };
  RnnGradients d{{zeros_like(in.x), zeros_like(in.h0), zeros_like(in.c0)},
                 {zeros_like(w.weight_ih), zeros_like(w.weight_hh), zeros_like(w.bias_ih), zeros_like(w.bias_hh),
                  zeros_like(w.weight_hr)}};
  for (std::int64_t b = 0; b < l.batch; ++b) {
    const std::vector<Step> steps = sequence_forward(l, in, w, b);
    const std::vector<std::int64_t> order = order_of(l, b);
    Numbers dh = row_of(dout.h_n, b, l.outputs());
    Numbers dc = l.cell == RnnCell::lstm ? row_of(dout.c_n, b, l.hidden) : Numbers();
    for (std::size_t n = steps.size(); n-- > 0;) {
      const Numbers dy = row_of(dout.y, order[n] * l.batch + b, l.outputs());
      for (std::size_t k = 0; k < dy.size(); ++k) dh[k] += dy[k];
      Numbers dx(index(l.inputs), 0);
      step_backward(l, w, steps[n], dh, dc, dx, d.weights);
      add_row(d.inputs.x, order[n] * l.batch + b, dx);
    }
    set_row(d.inputs.h0, b, dh);
    if (l.cell == RnnCell::lstm) set_row(d.inputs.c0, b, dc);
  }
  return d;
}

}  // namespace crisol::reference
