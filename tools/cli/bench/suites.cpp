#include "cli/bench/suites.h"

#include "cli/bench/case.h"

namespace crisol::cli::bench {

namespace {

struct Suite {
  const char* name;
  std::vector<const char*> lines;
};

// 65536 elements stay in the caches; 16777216 elements do not.
const Suite suites[] = {
    {"eltwise",
     {"eltwise chain=copy",
      "eltwise chain=add",
      "eltwise chain=exp",
      "eltwise chain=tanh",
      "eltwise chain=sigmoid",
      "eltwise chain=gelu",
      "eltwise chain=chain6 fused=0",
      "eltwise chain=chain6 fused=1",
      "eltwise chain=gate fused=0",
      "eltwise chain=gate fused=1",
      "eltwise chain=bias_relu fused=0",
      "eltwise chain=bias_relu fused=1",
      "softmax rows=4096 cols=1024",
      "norm kind=layer rows=4096 cols=1024",
      "reduce op=sum over=all",
      "reduce op=sum over=rows",
      "reduce op=sum over=cols",
      "eltwise chain=copy elements=65536",
      "eltwise chain=add elements=65536",
      "eltwise chain=exp elements=65536",
      "eltwise chain=tanh elements=65536",
      "eltwise chain=sigmoid elements=65536",
      "eltwise chain=gelu elements=65536",
      "eltwise chain=gate elements=65536 fused=0",
      "eltwise chain=gate elements=65536 fused=1",
      "reduce op=sum rows=64 cols=1024 over=all",
      "reduce op=sum rows=64 cols=1024 over=rows",
      "reduce op=sum rows=64 cols=1024 over=cols",
      "softmax rows=64 cols=1024",
      "norm kind=layer rows=64 cols=1024"}},
    {"cpu",
     {"gemm m=512 n=512 k=512",
      "gemm m=1024 n=1024 k=1024",
      "gemm m=2048 n=2048 k=2048",
      "conv2d n=16 c=64 k=64 h=56 w=56 dir=fwd",
      "conv2d n=16 c=64 k=64 h=56 w=56 dir=train",
      "conv2d n=16 c=128 k=128 h=28 w=28 dir=fwd",
      "conv2d n=16 c=128 k=128 h=28 w=28 dir=train",
      "conv2d n=16 c=256 k=256 h=14 w=14 dir=fwd",
      "conv2d n=16 c=256 k=256 h=14 w=14 dir=train",
      "conv2d n=64 c=32 k=64 h=14 w=14 dir=fwd",
      "conv2d n=64 c=32 k=64 h=14 w=14 dir=train",
      "conv2d n=64 c=1 k=32 h=28 w=28 dir=fwd",
      "conv2d n=64 c=1 k=32 h=28 w=28 dir=train",
      "conv2d n=16 c=256 k=64 h=56 w=56 r=1 s=1 pad=0 dir=fwd",
      "conv2d n=16 c=256 k=64 h=56 w=56 r=1 s=1 pad=0 dir=train",
      "net net=simplecnn batch=64 mode=train",
      "net net=simplecnn batch=64 mode=infer",
      "net net=simplecnn batch=256 mode=infer",
      "net net=simplecnn batch=1 mode=infer wait=1",
      "net net=alexnet batch=8 mode=infer",
      "net net=alexnet batch=8 mode=train",
      "net net=resnet18 batch=8 mode=infer",
      "net net=resnet18 batch=8 mode=train"}},
    {"nets",
     {"net net=vgg16 batch=4 mode=infer", "net net=vgg16 batch=4 mode=train", "net net=mobilenet_v2 batch=8 mode=infer",
      "net net=mobilenet_v2 batch=8 mode=train"}},
    {"rnn",
     {"rnn kind=lstm t=28 b=64 i=28 h=128 dir=fwd", "rnn kind=lstm t=28 b=64 i=28 h=128 dir=train",
      "rnn kind=lstm t=50 b=32 i=256 h=512 dir=fwd", "rnn kind=lstm t=50 b=32 i=256 h=512 dir=train",
      "rnn kind=lstm t=35 b=20 i=200 h=200 layers=2 dir=fwd", "rnn kind=lstm t=35 b=20 i=200 h=200 layers=2 dir=train",
      "rnn kind=lstm t=100 b=1 i=128 h=256 dir=fwd", "rnn kind=gru t=50 b=32 i=256 h=512 dir=fwd",
      "rnn kind=gru t=50 b=32 i=256 h=512 dir=train"}},
    {"kernels",
     {"net net=simplecnn batch=64 mode=train",
      "net net=simplecnn batch=64 mode=infer",
      "net net=simplecnn batch=1 mode=infer",
      "net net=resnet18 batch=32 mode=train",
      "net net=resnet18 batch=32 mode=infer",
      "net net=mobilenet_v2 batch=8 mode=train",
      "conv2d n=256 c=256 k=256 h=2 w=2 dir=fwd",
      "gemm m=1024 n=1024 k=1024",
      "gemm m=4096 n=4096 k=4096",
      "gemm m=4096 n=4096 k=4096 transa=1",
      "gemm m=4096 n=4096 k=4096 transb=1",
      "gemm m=1 n=4096 k=4096",
      "gemm m=64 n=64 k=65536",
      "gemm m=4096 n=4096 k=4096 precision=tf32",
      "gemm m=4096 n=4096 k=4096 precision=fp16",
      "gemm m=4096 n=4096 k=4096 transa=1 precision=bf16",
      "gemm m=1000 n=999 k=65 transb=1 precision=fp16",
      "gemm m=30 n=4096 k=4096 precision=bf16",
      "gemm m=64 n=64 k=65536 precision=fp16",
      "rnn kind=lstm t=28 b=64 i=28 h=64 dir=train",
      "rnn kind=lstm t=28 b=512 i=28 h=96 dir=train",
      "rnn kind=gru t=28 b=512 i=28 h=128 dir=train",
      "rnn kind=rnn t=28 b=512 i=28 h=128 dir=train",
      "conv2d n=32 c=128 k=128 h=28 w=28 dir=train precision=fp16",
      "conv2d n=32 c=64 k=64 h=56 w=56 stride=2 dir=train precision=tf32",
      "conv2d n=1 c=512 k=512 h=7 w=7 dir=train precision=bf16",
      "rnn kind=lstm t=28 b=64 i=28 h=128 dir=train",
      "rnn kind=lstm t=50 b=32 i=256 h=512 dir=train",
      "rnn kind=gru t=50 b=32 i=256 h=512 dir=train",
      "eltwise chain=copy",
      "eltwise chain=add",
      "eltwise chain=exp",
      "eltwise chain=tanh",
      "eltwise chain=gelu",
      "eltwise chain=gate fused=1",
      "eltwise chain=bias_relu fused=1",
      "softmax rows=4096 cols=1024 dir=fwd",
      "softmax rows=4096 cols=1024 dir=bwd",
      "norm kind=layer rows=4096 cols=1024",
      "reduce op=sum over=all",
      "reduce op=sum over=rows",
      "reduce op=sum over=cols",
      "reduce op=sum rows=1000 cols=1001 over=rows",
      "reduce op=sum rows=1000 cols=1001 over=cols",
      "reduce op=argmax over=cols",
      "reduce op=logsumexp over=cols",
      "reduce op=var over=cols"}},
    {"machine",
     {"launch what=kernel", "launch what=kernel wait=1", "launch what=op", "launch what=op wait=1",
      "launch what=product", "launch what=conv2d", "launch what=conv2d_train", "launch what=lstm",
      "launch what=lstm_train", "launch what=gru", "copy dir=h2d", "copy dir=d2h", "copy dir=d2d"}},
};

}  // namespace

std::string suite_names() {
  std::string names;
  for (const Suite& known : suites) names += std::string(known.name) + ", ";
  return names + "all";
}

std::vector<std::string> suite(const std::string& name) {
  std::vector<std::string> lines;
  for (const Suite& known : suites)
    if (name == known.name || name == "all") lines.insert(lines.end(), known.lines.begin(), known.lines.end());
  if (lines.empty()) throw UsageError("there is no suite '" + name + "'; there are: " + suite_names());
  return lines;
}

}  // namespace crisol::cli::bench
