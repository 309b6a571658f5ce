// Whatever people save is read as Python reads it, or refused in a sentence; and no file at all does any harm.
#include "core/files.h"
#include "program/archive_records.h"
#include "program/fixture.h"
#include "program/read_inputs.h"
#include "program/values.h"
#include "test_paths.h"

#include <ATen/ATen.h>
#include <gtest/gtest.h>
#include <torch/csrc/jit/frontend/function_schema_parser.h>
#include <torch/csrc/jit/serialization/pickle.h>

#include <cstdlib>
#include <filesystem>
#include <random>

namespace repro_minify {
namespace {

namespace fs = std::filesystem;

/// Made once: Python needs seconds to start.
class SavedByPython : public testing::Test {
protected:
  static void SetUpTestSuite() {
    if (std::string(test_paths::python).empty())
      return;
    folder_ = new TemporaryFolder();
    const std::string script = fs::path(test_paths::fixtures).parent_path() / "tests/program/saved_inputs.py";
    const std::string command =
        std::string(test_paths::python) + " -W ignore -B " + script + " " + (*folder_ / "saved").string();
    ASSERT_EQ(std::system(command.c_str()), 0);
  }
  static void TearDownTestSuite() {
    delete folder_;
    folder_ = nullptr;
  }
  void SetUp() override {
    if (!folder_)
      GTEST_SKIP() << "no Python with torch here";
  }
  static std::vector<fs::path> files(const std::string &part) {
    std::vector<fs::path> found;
    for (const auto &entry : fs::directory_iterator(*folder_ / "saved" / part))
      if (entry.path().extension() != ".why")
        found.push_back(entry.path());
    std::sort(found.begin(), found.end());
    return found;
  }

  static TemporaryFolder *folder_;
};
TemporaryFolder *SavedByPython::folder_ = nullptr;

at::Tensor plain(at::Tensor tensor) {
  tensor = tensor.is_quantized() ? tensor.dequantize() : tensor.layout() == at::kStrided ? tensor : tensor.to_dense();
  return (tensor.scalar_type() == at::kUInt16 ? tensor.to(at::kInt) : tensor).resolve_conj();
}

void expect_same(const at::Tensor &found, const at::Tensor &expected, const std::string &name) {
  EXPECT_EQ(found.scalar_type(), expected.scalar_type()) << name;
  ASSERT_EQ(found.sizes(), expected.sizes()) << name;
  EXPECT_TRUE(at::equal(found, expected)) << name << '\n' << found << '\n' << expected;
  EXPECT_EQ(found.requires_grad(), expected.requires_grad()) << name;
}

TEST_F(SavedByPython, IsReadAsItWasSaved) {
  size_t read = 0;
  for (const auto &file : files("good")) {
    const std::string name = file.filename();
    c10::IValue found;
    ASSERT_NO_THROW(found = read_inputs(file)) << name;
    const std::string bytes = bytes_of(*folder_ / "saved" / "plain" / (file.stem().string() + ".pt"));
    const c10::IValue expected = torch::jit::pickle_load({bytes.begin(), bytes.end()});
    std::vector<c10::IValue> leaves, expected_leaves;
    flatten_value(found, leaves);
    flatten_value(expected, expected_leaves);
    ASSERT_EQ(leaves.size(), expected_leaves.size()) << name;
    for (size_t i = 0; i < leaves.size(); ++i) {
      ASSERT_EQ(leaves[i].isTensor(), expected_leaves[i].isTensor()) << name;
      if (leaves[i].isTensor())
        expect_same(plain(leaves[i].toTensor()), plain(expected_leaves[i].toTensor()), name);
      else
        EXPECT_EQ(leaves[i], expected_leaves[i]) << name;
    }
    ++read;
  }
  EXPECT_GE(read, 30u);
}

TEST_F(SavedByPython, KeepsStridesAndSharedMemory) {
  for (const std::string name : {"views.pt", "legacy_shared.pt"}) {
    const auto all = read_inputs(*folder_ / "saved" / "good" / name).toTupleRef().elements().vec();
    EXPECT_EQ(all[0].toTensor().storage().data(), all[1].toTensor().storage().data()) << name;
    EXPECT_FALSE(all[name == "views.pt" ? 0 : 1].toTensor().is_contiguous()) << name;
    EXPECT_GT(all[2].toTensor().storage_offset(), 0) << name;
  }
}

TEST_F(SavedByPython, OrIsRefusedWithTheCause) {
  const auto bad = files("bad");
  EXPECT_GE(bad.size(), 10u);
  for (const auto &file : bad) {
    const std::string why = bytes_of(fs::path(file).replace_extension(".why"));
    try {
      read_inputs(file);
      ADD_FAILURE() << file << " is read";
    } catch (const UserError &error) {
      const std::string message = error.what();
      EXPECT_NE(message.find(why), std::string::npos) << message;
      EXPECT_EQ(message.find(file.string() + ": "), 0u) << message;
      EXPECT_EQ(message.find('\n'), std::string::npos) << message;
    }
  }
}

/// Bits are flipped in the middle, bytes overwritten, the end cut off.
std::string damaged(std::string bytes, std::mt19937 &random) {
  const auto place = [&] { return std::uniform_int_distribution<size_t>(0, bytes.size() - 1)(random); };
  switch (random() % 3) {
  case 0:
    bytes.resize(place());
    break;
  case 1:
    bytes[place()] ^= static_cast<char>(1 << random() % 8);
    break;
  default:
    for (int times = static_cast<int>(random() % 8); times >= 0; --times)
      bytes[place()] = static_cast<char>(random());
  }
  return bytes;
}

TEST_F(SavedByPython, DoesNoHarmDamaged) {
  std::mt19937 random(1);
  int refused = 0, tried = 0;
  for (const auto &file : files("good")) {
    const std::string whole = bytes_of(file);
    for (int i = 0; i < 100; ++i, ++tried) {
      try {
        const c10::IValue value = read_inputs(damaged(whole, random), "inputs.pt");
        // All of every tensor is there.
        for_each_tensor(value, [](const at::Tensor &tensor) {
          if (tensor.layout() == at::kStrided && tensor.numel() < 10000)
            tensor.detach().clone();
        });
      } catch (const UserError &) {
        ++refused;
      }
    }
  }
  EXPECT_GE(tried, 3000);
  EXPECT_GT(refused, tried / 4);
}

TEST(ReadInputs, SaysWhatIsNoFile) {
  const TemporaryFolder folder;
  EXPECT_THROW(read_inputs(folder.path()), UserError);
  EXPECT_THROW(read_inputs(folder / "none.pt"), UserError);
  EXPECT_THROW(read_inputs("", "inputs.pt"), UserError);
}

std::vector<c10::IValue> fitted(const std::string &schema, const c10::IValue &saved) {
  return as_arguments(torch::jit::parseSchema("forward(Any self, " + schema + ") -> Tensor"), saved, "inputs.pt");
}

c10::impl::GenericList generic_list_of(const std::vector<c10::IValue> &values) {
  c10::impl::GenericList list(c10::AnyType::get());
  for (const auto &value : values)
    list.push_back(value);
  return list;
}

c10::IValue dictionary_of(const std::vector<std::pair<std::string, c10::IValue>> &entries) {
  c10::impl::GenericDict dict(c10::StringType::get(), c10::AnyType::get());
  for (const auto &[key, value] : entries)
    dict.insert(key, value);
  return dict;
}

TEST(AsArguments, TakesWhatFits) {
  const at::Tensor x = at::ones({1}), y = at::ones({2});
  const auto tuple = [](std::vector<c10::IValue> values) -> c10::IValue {
    return c10::ivalue::Tuple::create(std::move(values));
  };
  EXPECT_EQ(fitted("Tensor x", x).size(), 1u);
  EXPECT_EQ(fitted("Tensor x, int n=3", x)[1].toInt(), 3);
  EXPECT_TRUE(fitted("Tensor x, Tensor y", dictionary_of({{"y", y}, {"x", x}}))[1].toTensor().is_same(y));
  // (args, kwargs), and what only looks like it.
  EXPECT_TRUE(fitted("Tensor x, Tensor y", tuple({tuple({x}), dictionary_of({{"y", y}})}))[1].toTensor().is_same(y));
  EXPECT_EQ(fitted("Tensor x, Tensor y", tuple({generic_list_of({x, y}), dictionary_of({})})).size(), 2u);
  EXPECT_TRUE(
      fitted("Tensor[] x, Dict(str, Tensor) y", tuple({tuple({x}), dictionary_of({{"y", y}})}))[1].isGenericDict());
  // A list for the one list, a dict for the one dict.
  EXPECT_EQ(fitted("Tensor[] xs", generic_list_of({x, y, x}))[0].toTensorVector().size(), 3u);
  EXPECT_EQ(fitted("Tensor[] xs", tuple({generic_list_of({x, y})}))[0].toTensorVector().size(), 2u);
  EXPECT_EQ(fitted("Dict(str, Tensor) d", dictionary_of({{"a", x}, {"b", y}}))[0].toGenericDict().size(), 2u);
  EXPECT_EQ(fitted("float f", c10::IValue(int64_t{2}))[0].toDouble(), 2.0);
}

TEST(AsArguments, SaysWhatDoesNotFit) {
  const at::Tensor x = at::ones({1});
  const auto said = [&](const std::string &schema, const c10::IValue &saved) {
    try {
      fitted(schema, saved);
    } catch (const UserError &error) {
      return std::string(error.what());
    }
    return std::string("nothing");
  };
  EXPECT_EQ(said("Tensor x, Tensor y", x), "inputs.pt: forward(x: Tensor, y: Tensor) takes 2 inputs, and there is none "
                                           "for 'y'");
  EXPECT_EQ(said("Tensor x", c10::IValue(int64_t{2})), "inputs.pt: input 'x' is int, but the model takes Tensor");
  EXPECT_EQ(said("Tensor x", dictionary_of({{"layer.0.weight", x}, {"layer.0.bias", x}})),
            "inputs.pt: is a state dict (parameters by name), no inputs");
  // A value that only looks like (args, kwargs) is not taken for it.
  const auto pair =
      c10::ivalue::Tuple::create({generic_list_of({x, c10::IValue(int64_t{3})}), dictionary_of({{"a", x}})});
  EXPECT_EQ(said("Tensor[] xs, Dict(str, Tensor) d", pair),
            "inputs.pt: input 'xs'[1] is int, but the model takes Tensor");
  EXPECT_NE(said("Tensor x, Tensor y",
                 c10::ivalue::Tuple::create({c10::ivalue::Tuple::create({x}), dictionary_of({{"x", x}})}))
                .find("gives 'x' twice"),
            std::string::npos);
}

} // namespace
} // namespace repro_minify
