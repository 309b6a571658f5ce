// Two values with one digest are the same to any program; one that cannot be read is equal to itself alone.
#include "program/value_digest.h"

#include <ATen/ATen.h>
#include <ATen/Parallel.h>
#include <gtest/gtest.h>
#include <torch/csrc/jit/api/module.h>
#include <torch/custom_class.h>

#include <cmath>
#include <set>

namespace repro_minify {
namespace {

/// A process that forks must never have entered an OpenMP region.
const bool one_thread = (at::set_num_threads(1), true);

struct Opaque : torch::CustomClassHolder {};

void expect_all_different(const std::vector<c10::IValue> &values) {
  std::set<std::string> digests;
  for (const auto &value : values) {
    const std::string digest = digest_of(value);
    EXPECT_EQ(digest.size(), 32u) << value.tagKind();
    EXPECT_EQ(digest, digest_of(value));
    digests.insert(digest);
  }
  EXPECT_EQ(digests.size(), values.size());
}

std::string name_of(const c10::IValue &value) {
  Digest digest;
  EXPECT_FALSE(add_value(digest, value));
  return digest.text();
}

TEST(ValueDigest, SeesEveryByteAndHowItIsLaidOut) {
  const at::Tensor plain = at::arange(6, at::kFloat).view({2, 3});
  at::Tensor ulp = plain.clone();
  ulp[1][2] = std::nextafter(5.0f, 6.0f);
  expect_all_different({plain, ulp, plain.t(), plain.to(at::kDouble), plain.clone().set_requires_grad(true),
                        plain.view({6}), plain.view({3, 2}), plain.slice(0, 1), at::zeros({0}), at::zeros({0, 1}),
                        at::Tensor(), at::full({2}, NAN), at::complex(plain, plain).conj(), at::empty({2}, at::kMeta)});
  EXPECT_EQ(digest_of(plain), digest_of(plain.clone()));
}

/// 4 digits of each number were all there was of a list of tensors.
TEST(ValueDigest, SeesTheBytesOfTensorsInContainers) {
  const auto list = [](double value) {
    return c10::IValue(c10::List<at::Tensor>({at::full({2}, value, at::kDouble)}));
  };
  const auto tuple = [](double value) { return c10::ivalue::Tuple::create({at::full({2}, value, at::kDouble)}); };
  expect_all_different({list(1), list(1 + 1e-9), tuple(1), tuple(1 + 1e-9)});
  EXPECT_EQ(digest_of(list(1)), digest_of(list(1)));
}

TEST(ValueDigest, TellsNumbersFromTexts) {
  expect_all_different({int64_t{1}, 1.0, true, std::string("1"), c10::IValue(), c10::complex<double>(1, 0),
                        1.0 + 1e-16 * 4, c10::List<int64_t>({1}), c10::List<double>({1.0}), c10::List<int64_t>({1, 1}),
                        c10::Device("cpu"), c10::Device("cuda:1"), 0.0, -0.0});
}

TEST(ValueDigest, SeesSparseTensorsOfEveryLayout) {
  const at::Tensor one = at::eye(4), other = one.clone();
  other[3][3] = 2;
  std::vector<c10::IValue> values;
  for (const auto &dense : {one, other}) {
    values.emplace_back(dense.to_sparse());
    values.emplace_back(dense.to_sparse_csr());
    values.emplace_back(dense.to_sparse_csc());
    values.emplace_back(dense.to_sparse_bsr({2, 2}));
    values.emplace_back(dense.to_sparse_bsc({2, 2}));
    values.emplace_back(dense.to_sparse_bsr({1, 1}));
  }
  at::Tensor moved = at::zeros({4, 4});
  moved.fill_diagonal_(1);
  values.emplace_back(moved.flip(0).to_sparse_csr());
  expect_all_different(values);
  EXPECT_EQ(digest_of(one.to_sparse_csr()), digest_of(one.clone().to_sparse_csr()));
}

TEST(ValueDigest, SeesTheQuantisersOfQuantisedTensors) {
  const at::Tensor zeros = at::zeros({2, 2});
  const auto per_channel = [&](double scale, int64_t zero, int64_t axis) {
    return at::quantize_per_channel(zeros, at::full({2}, scale, at::kDouble), at::full({2}, zero, at::kLong), axis,
                                    at::kQInt8);
  };
  expect_all_different({at::quantize_per_tensor(zeros, 0.1, 0, at::kQInt8),
                        at::quantize_per_tensor(zeros, 0.2, 0, at::kQInt8),
                        at::quantize_per_tensor(zeros, 0.1, 0, at::kQUInt8), per_channel(0.1, 0, 0),
                        per_channel(0.2, 0, 0), per_channel(0.1, 0, 1)});
}

TEST(ValueDigest, OfWhatCannotBeReadEqualsItselfAlone) {
  const at::Tensor dense = at::ones({2, 2}), packed = dense.to_mkldnn(), again = dense.to_mkldnn();
  EXPECT_EQ(digest_of(packed), "");
  EXPECT_EQ(name_of(packed), name_of(packed));
  EXPECT_NE(name_of(packed), name_of(again));
  const auto holder = c10::make_intrusive<Opaque>(), other = c10::make_intrusive<Opaque>();
  EXPECT_EQ(name_of(c10::IValue::make_capsule(holder)), name_of(c10::IValue::make_capsule(holder)));
  EXPECT_NE(name_of(c10::IValue::make_capsule(holder)), name_of(c10::IValue::make_capsule(other)));
  EXPECT_EQ(digest_of(c10::List<at::Tensor>({packed})), "") << "nor what holds it";
}

TEST(ValueDigest, OfAnObjectIsItsAttributes) {
  const auto object = [](double value, const char *name) {
    torch::jit::Module module(name);
    module.register_attribute("x", c10::TensorType::get(), at::full({2}, value));
    return c10::IValue(module._ivalue());
  };
  expect_all_different({object(1, "A"), object(2, "A"), object(1, "B")});
  EXPECT_EQ(digest_of(object(1, "A")), digest_of(object(1, "A")));
}

} // namespace
} // namespace repro_minify
