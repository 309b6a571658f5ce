// Pickles say what they say, and nothing that is wrong with one goes further than a CannotRead.
#include "program/pickle.h"

#include <gtest/gtest.h>

#include <random>

namespace repro_minify::pickle {
namespace {

using namespace std::string_literals;

// pickle.dumps({"a": [1, -2, 300, 1 << 40, 1.5, True, None], "b": ("x", b"y")}, protocol=N)
const std::string protocol_2 = "\x80\x02}q\x00(X\x01\x00\x00\x00"
                               "aq\x01]q\x02(K\x01J\xfe\xff\xff\xffM,\x01\x8a\x06\x00\x00\x00\x00\x00\x01G?\xf8"
                               "\x00\x00\x00\x00\x00\x00\x88NeX\x01\x00\x00\x00"
                               "bq\x03X\x01\x00\x00\x00xq\x04"
                               "c_codecs\nencode\nq\x05X\x01\x00\x00\x00"
                               "yq\x06X\x06\x00\x00\x00latin1q\x07\x86q\x08Rq\x09\x86q\nu."s;
const std::string protocol_4 = "\x80\x04\x95"
                               "0\x00\x00\x00\x00\x00\x00\x00}\x94(\x8c\x01"
                               "a\x94]\x94(K\x01J\xfe\xff\xff\xffM,\x01\x8a\x06\x00\x00\x00"
                               "\x00\x00\x01G?\xf8\x00\x00\x00\x00\x00\x00\x88Ne\x8c\x01"
                               "b\x94\x8c\x01x\x94"
                               "C\x01y\x94\x86\x94u."s;

TEST(Pickle, IsReadAsData) {
  for (const auto &bytes : {protocol_2, protocol_4}) {
    const Document document = read(bytes);
    EXPECT_EQ(document.size, bytes.size());
    ASSERT_TRUE(document.root->is(Value::Kind::Dict));
    ASSERT_EQ(document.root->entries.size(), 2u);
    EXPECT_EQ(document.root->entries[0].first->text, "a");
    const auto &numbers = document.root->entries[0].second->items;
    ASSERT_EQ(numbers.size(), 7u);
    EXPECT_EQ(numbers[1]->integer, -2);
    EXPECT_EQ(numbers[2]->integer, 300);
    EXPECT_EQ(numbers[3]->integer, int64_t{1} << 40);
    EXPECT_EQ(numbers[4]->number, 1.5);
    EXPECT_TRUE(numbers[5]->is(Value::Kind::Bool));
    EXPECT_TRUE(numbers[6]->is(Value::Kind::None));
    const auto &pair = document.root->entries[1].second->items;
    ASSERT_EQ(pair.size(), 2u);
    EXPECT_EQ(pair[0]->text, "x");
  }
}

TEST(Pickle, CallsNothing) {
  const std::string bytes = "\x80\x02"
                            "cos\nsystem\nX\x05\x00\x00\x00touch\x85R."s;
  const Document document = read(bytes);
  EXPECT_TRUE(document.root->is(Value::Kind::Object));
  EXPECT_EQ(document.root->name(), "os.system");
  EXPECT_EQ(document.root->argument->items[0]->text, "touch");
}

/// LibTorch writes a member of an Enum in this way: its class, called with its value, which is no tuple.
TEST(Pickle, ReadsAMemberOfAnEnum) {
  const std::string bytes = "\x80\x02"
                            "c__torch__\nMode\nK\x02R."s;
  const Document document = read(bytes);
  ASSERT_TRUE(document.root->is(Value::Kind::Object));
  EXPECT_EQ(document.root->name(), "__torch__.Mode");
  EXPECT_EQ(document.root->argument->integer, 2);
}

TEST(Pickle, SaysWhatIsWrong) {
  for (const std::string &bad : {""s,
                                 "."s,
                                 "\x80\x02"s,
                                 "\x80\x09N."s,
                                 "]q"s,
                                 "h\x05."s,
                                 "e."s,
                                 "u."s,
                                 "(."s,
                                 "R."s,
                                 "NR."s,
                                 "c__builtin__\nbytearray\n]R."s,
                                 "X\xff\xff\xff\xff."s,
                                 "\x8d\xff\xff\xff\xff\xff\xff\xff\xff."s,
                                 "\x8b\xff\xff\xff\xff."s,
                                 "cabc"s,
                                 "Nb."s,
                                 "NNa."s,
                                 "NNNs."s,
                                 "}(Nu."s,
                                 "P1\n."s,
                                 "\x85."s,
                                 "("s,
                                 "0."s,
                                 "q\x01."s,
                                 "\xff."s,
                                 "(N(N0."s})
    EXPECT_THROW(read(bad), CannotRead) << testing::PrintToString(bad);
}

/// ("npy", dtype, in Fortran's order, shape) as numpy.save writes it.
std::string npy(const std::string &dtype, bool fortran, const std::string &shape, const std::string &data) {
  const std::string header =
      "{'descr': '" + dtype + "', 'fortran_order': " + (fortran ? "True" : "False") + ", 'shape': " + shape + ", }\n";
  return "\x93NUMPY\x01\x00"s + static_cast<char>(header.size()) + '\0' + header + data;
}

TEST(Npy, IsRead) {
  const std::string bytes = npy(">i2", true, "(2, 3)", "\0\1\0\2\0\3\0\4\0\5\0\6"s);
  ASSERT_TRUE(is_npy(bytes));
  const Array array = read_npy(bytes);
  EXPECT_EQ(array.dtype, "i2");
  EXPECT_EQ(array.element_size, 2u);
  EXPECT_TRUE(array.swapped);
  EXPECT_TRUE(array.fortran);
  EXPECT_EQ(array.shape, (std::vector<int64_t>{2, 3}));
  EXPECT_EQ(array.data().size(), 12u);
  const std::string scalar = npy("<f8", false, "()", std::string(8, '\0'));
  EXPECT_TRUE(read_npy(scalar).shape.empty());
  const std::string one = npy("|b1", false, "(3,)", "\0\1\1"s);
  EXPECT_EQ(read_npy(one).shape, (std::vector<int64_t>{3}));
}

TEST(Npy, SaysWhatIsWrong) {
  for (const std::string &bad :
       {npy("<f4", false, "(2,)", "1234567"), npy("<f4", false, "(-1,)", ""), npy("|O", false, "(1,)", "12345678"),
        npy("<f4", false, "(9223372036854775807, 9)", ""), npy("<f4", false, "(x,)", ""), npy("<f4", false, "2", ""),
        "\x93NUMPY"s, "\x93NUMPY\x01\x00\xff\xff"s, "\x93NUMPY\x01\x00\x00\x00"s})
    EXPECT_THROW(read_npy(bad), CannotRead) << bad;
}

/// torch.save(torch.tensor([1, 2, 3], dtype=torch.int8), ..., _use_new_zipfile_serialization=False)
std::string legacy_file() {
  const std::string magic = "\x80\x02\x8a\x0a"
                            "l\xfc\x9c"
                            "F\xf9 j\xa8P\x19.";
  const std::string version = "\x80\x02M\xe9\x03.";
  const std::string machine = "\x80\x02}q\x00X\x0d\x00\x00\x00little_endianq\x01\x88s."s;
  const std::string tensor =
      "\x80\x02"
      "ctorch._utils\n_rebuild_tensor_v2\n((X\x07\x00\x00\x00storagectorch\nCharStorage\nX\x01\x00\x00\x00"
      "7X\x03\x00\x00\x00"
      "cpuK\x03NtQK\x00K\x03\x85K\x01\x85\x89}tR."s;
  const std::string keys = "\x80\x02]q\x00X\x01\x00\x00\x00"
                           "7q\x01"
                           "a."s;
  return magic + version + machine + tensor + keys + "\x03\0\0\0\0\0\0\0\1\2\3"s;
}

TEST(LegacyFile, HasItsStorages) {
  const std::string bytes = legacy_file();
  ASSERT_TRUE(is_legacy_file(bytes));
  const LegacyFile file = read_legacy_file(bytes);
  EXPECT_EQ(file.document.root->name(), "torch._utils._rebuild_tensor_v2");
  EXPECT_EQ(storage_id(*file.document.root->argument->items[0]).type, "CharStorage");
  ASSERT_EQ(file.storages.size(), 1u);
  EXPECT_EQ(file.storages.at("7"), "\1\2\3");
}

TEST(LegacyFile, SaysWhatIsWrong) {
  const std::string whole = legacy_file();
  for (size_t size = 0; size < whole.size(); ++size)
    EXPECT_THROW(read_legacy_file(whole.substr(0, size)), CannotRead) << size;
}

/// Bits flipped, bytes written over, ends cut off, parts repeated: a sanitizer watches.
TEST(Pickle, DoesNoHarmDamaged) {
  std::mt19937 random(1);
  const std::vector<std::string> whole = {protocol_2, protocol_4, legacy_file(),
                                          npy("<f4", false, "(2, 3)", std::string(24, '\1'))};
  int refused = 0, tried = 0;
  for (; tried < 40000; ++tried) {
    std::string bytes = whole[static_cast<size_t>(tried) % whole.size()];
    for (int times = static_cast<int>(random() % 4); times >= 0; --times) {
      const size_t at = random() % bytes.size();
      switch (random() % 4) {
      case 0:
        bytes.resize(at + 1);
        break;
      case 1:
        bytes[at] ^= static_cast<char>(1 << random() % 8);
        break;
      case 2:
        bytes[at] = static_cast<char>(random());
        break;
      default:
        bytes.insert(at, bytes.substr(random() % bytes.size(), random() % 16));
      }
    }
    try {
      if (is_npy(bytes))
        read_npy(bytes);
      else if (is_legacy_file(bytes))
        read_legacy_file(bytes);
      else
        for (const auto document = read(bytes); const auto &value : document.values)
          array_of(value);
    } catch (const CannotRead &) {
      ++refused;
    }
  }
  EXPECT_GT(refused, tried / 4);
  EXPECT_LT(refused, tried);
}

} // namespace
} // namespace repro_minify::pickle
