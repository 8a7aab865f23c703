#include "llm/gguf.h"

#include <gtest/gtest.h>

#include <string>

#include "base/file.h"

namespace unmask {
namespace {

// The files of the fuzzer's corpus are named after what is wrong with them.
std::string corpus(const std::string& name) {
  const Result<std::string> bytes =
      read_file(std::string(UNMASK_TEST_DATA) + "/../../fuzz/corpus/gguf/" + name);
  EXPECT_TRUE(bytes) << name;
  return bytes ? *bytes : "";
}

std::string refusal(const std::string& name) {
  const std::string bytes = corpus(name);
  const Result<Gguf> file = Gguf::read(bytes, "m.gguf");
  return file ? "it was read" : to_string(file.error());
}

TEST(Gguf, ReadsEveryKindOfValue) {
  const std::string bytes = corpus("whole");
  const Result<Gguf> file = Gguf::read(bytes, "m.gguf");
  ASSERT_TRUE(file) << to_string(file.error());
  EXPECT_EQ(file->version(), 3u);
  EXPECT_EQ(file->architecture(), "llama");
  EXPECT_EQ(file->of_architecture("context_length")->whole(), 2048);
  EXPECT_EQ(file->find("a")->whole(), 1);
  EXPECT_EQ(file->find("b")->whole(), -1);
  EXPECT_EQ(file->find("d")->whole(), -1);
  EXPECT_EQ(file->find("e")->whole(), -3);
  EXPECT_EQ(file->find("f")->number(), 0.5);
  EXPECT_EQ(file->find("f")->whole(), std::nullopt);
  EXPECT_EQ(file->find("g")->whole(), 1);
  EXPECT_EQ(file->find("h")->whole(), std::nullopt) << "it does not fit";
  EXPECT_EQ(file->find("i")->number(), -9.0);
  EXPECT_EQ(file->find("j")->number(), 1e300);
  EXPECT_EQ(file->find("tokens")->texts(), (std::vector<std::string_view>{"<s>", "", "é"}));
  EXPECT_EQ(file->find("scores")->at(1)->number(), 2.0);
  EXPECT_FALSE(file->find("scores")->at(2));
  EXPECT_TRUE(file->find("none")->texts().empty());
  EXPECT_EQ(file->find("absent"), nullptr);
}

TEST(Gguf, PlacesTensors) {
  const std::string bytes = corpus("whole");
  const Result<Gguf> file = Gguf::read(bytes, "m.gguf");
  ASSERT_TRUE(file) << to_string(file.error());
  ASSERT_EQ(file->tensors().size(), 2u);
  const GgufTensor* w = file->find_tensor("w");
  ASSERT_NE(w, nullptr);
  EXPECT_EQ(w->type->name, "q8_0");
  EXPECT_EQ(w->shape, (std::vector<std::uint64_t>{32, 2}));
  EXPECT_EQ(w->bytes, 68u);
  EXPECT_EQ(w->offset % file->alignment(), 0u);
  EXPECT_EQ(file->data(*w).substr(0, 3), std::string("\0\1\2", 3));
  EXPECT_EQ(file->find_tensor("b")->offset, file->data_offset() + 96);
}

TEST(Gguf, KeepsToTheAlignmentOfTheFile) {
  const std::string bytes = corpus("alignment_64");
  const Result<Gguf> file = Gguf::read(bytes, "m.gguf");
  ASSERT_TRUE(file) << to_string(file.error());
  EXPECT_EQ(file->data_offset() % 64, 0u);
}

TEST(Gguf, SaysWhatIsWrong) {
  EXPECT_EQ(refusal("empty"), "m.gguf: byte 0: the file is empty, so it is no GGUF model");
  EXPECT_EQ(refusal("not_gguf"),
            "m.gguf: byte 0: this is not a GGUF file: it does not begin with \"GGUF\"");
  EXPECT_EQ(refusal("magic_only"),
            "m.gguf: byte 4: the file is cut short: it ends within its head");
  EXPECT_NE(refusal("version_1").find("has version 1; 2 and 3 are read"), std::string::npos);
  EXPECT_NE(refusal("big_endian").find("is big-endian"), std::string::npos);
  EXPECT_NE(refusal("twice").find("\"general.architecture\" twice"), std::string::npos);
  EXPECT_NE(refusal("nested_array").find("array of arrays"), std::string::npos);
  EXPECT_NE(refusal("unknown_type").find("unknown type 77"), std::string::npos);
  EXPECT_NE(refusal("alignment_3").find("no power of two"), std::string::npos);
  EXPECT_NE(refusal("tensor_type").find("the tensor w has the unknown type 31"), std::string::npos);
  EXPECT_NE(refusal("tensor_rows").find("rows of 33 numbers, which q8_0 cannot keep"),
            std::string::npos);
  EXPECT_NE(refusal("tensor_twice").find("listed twice"), std::string::npos);
}

TEST(Gguf, RefusesCountsThatNoFileCanHold) {
  for (const char* name : {"huge_counts", "huge_text", "huge_array", "huge_texts", "tensor_offset"})
    EXPECT_NE(refusal(name).find("cut short"), std::string::npos) << name << ": " << refusal(name);
  EXPECT_NE(refusal("tensor_huge").find("impossible shape"), std::string::npos);
  EXPECT_NE(refusal("tensor_zero").find("impossible shape"), std::string::npos);
}

TEST(Gguf, RefusesAFileCutAnywhere) {
  const std::string bytes = corpus("whole");
  for (std::size_t length = 0; length < bytes.size(); ++length)
    EXPECT_FALSE(Gguf::read(std::string_view(bytes).substr(0, length), "m.gguf")) << length;
}

TEST(Gguf, KeepsTheFileMappedAsLongAsACopyLives) {
  std::optional<Gguf> copy;
  {
    const Result<Gguf> file =
        Gguf::open(std::string(UNMASK_TEST_DATA) + "/../../fuzz/corpus/gguf/whole");
    ASSERT_TRUE(file) << to_string(file.error());
    copy = *file;
  }
  EXPECT_EQ(copy->architecture(), "llama");
  const Result<Gguf> absent = Gguf::open("/nonexistent/m.gguf");
  ASSERT_FALSE(absent);
  EXPECT_EQ(absent.error().kind, ErrorKind::NotFound);
}

}  // namespace
}  // namespace unmask
