#include "quantize/gguf_writer.h"

#include <gtest/gtest.h>
#include <unistd.h>

#include <filesystem>

#include "base/file.h"
#include "quantize/test_model.h"

namespace unmask {
namespace {

std::string folder_for_test() {
  const std::string name = ::testing::UnitTest::GetInstance()->current_test_info()->name();
  const std::filesystem::path path =
      std::filesystem::path(::testing::TempDir()) / ("unmask_" + name + std::to_string(::getpid()));
  std::filesystem::remove_all(path);
  std::filesystem::create_directories(path);
  return path.string();
}

std::string rewritten(const Gguf& file, const std::string& place) {
  Result<UnfinishedFile> out = UnfinishedFile::create(place);
  EXPECT_TRUE(out);
  Result<GgufWriter> writer = GgufWriter::begin(GgufLayout::of(file), *out);
  EXPECT_TRUE(writer);
  for (const GgufTensor& tensor : file.tensors()) {
    const std::string_view bytes = file.data(tensor);
    EXPECT_TRUE(writer->append(bytes.substr(0, bytes.size() / 2)));
    EXPECT_TRUE(writer->append(bytes.substr(bytes.size() / 2)));
  }
  EXPECT_TRUE(writer->complete());
  EXPECT_TRUE(out->publish());
  return *read_file(place);
}

TEST(GgufWriter, WritesBackTheBytesItRead) {
  TestModelShape shape;
  shape.experts = 3;
  shape.type = "bf16";
  const std::string bytes = test_model(shape);
  const Result<Gguf> file = Gguf::read(bytes, "model");
  ASSERT_TRUE(file) << to_string(file.error());
  EXPECT_EQ(rewritten(*file, folder_for_test() + "/copy.gguf"), bytes);
}

TEST(GgufWriter, ReplacesAKeyInPlaceAndAddsOthersAtTheEnd) {
  const std::string bytes = test_model({});
  const Result<Gguf> file = Gguf::read(bytes, "model");
  ASSERT_TRUE(file);
  GgufLayout layout = GgufLayout::of(*file);
  const std::size_t before = layout.fields.size();
  layout.set(gguf_text("general.name", "another"));
  layout.set(gguf_u32("unmask.number", 7));
  std::string head = gguf_head(layout);
  head += bytes.substr(file->data_offset());
  const Result<Gguf> again = Gguf::read(head, "again");
  ASSERT_TRUE(again) << to_string(again.error());
  EXPECT_EQ(again->entries().size(), before + 1);
  EXPECT_EQ(again->entries()[1].key, "general.name");
  EXPECT_EQ(again->find("general.name")->text(), "another");
  EXPECT_EQ(again->entries().back().value.whole(), 7);
  EXPECT_EQ(again->data(again->tensors()[4]), file->data(file->tensors()[4]));
}

TEST(GgufWriter, KeepsAnAlignmentOfItsOwn) {
  GgufLayout layout;
  layout.alignment = 128;
  layout.set(gguf_u32("general.alignment", 128));
  layout.tensors.push_back({"a", {3}, gguf_tensor_type("f32")});
  layout.tensors.push_back({"b", {2}, gguf_tensor_type("f16")});
  std::string bytes = gguf_head(layout);
  bytes += std::string(128, 'a') + std::string(4, 'b');
  const Result<Gguf> file = Gguf::read(bytes, "aligned");
  ASSERT_TRUE(file) << to_string(file.error());
  EXPECT_EQ(file->tensors()[1].offset % 128, 0u);
  EXPECT_EQ(file->data(file->tensors()[1]), "bbbb");
}

TEST(UnfinishedFile, VanishesUnlessPublishedAndNeverReplaces) {
  const std::string folder = folder_for_test();
  const std::string place = folder + "/arm.gguf";
  {
    Result<UnfinishedFile> file = UnfinishedFile::create(place);
    ASSERT_TRUE(file);
    ASSERT_TRUE(file->write("half"));
    EXPECT_FALSE(std::filesystem::exists(place));
  }
  EXPECT_TRUE(std::filesystem::is_empty(folder));
  ASSERT_TRUE(write_file(place, "first"));
  Result<UnfinishedFile> second = UnfinishedFile::create(place);
  ASSERT_TRUE(second && second->write("second"));
  EXPECT_FALSE(second->publish());
  EXPECT_EQ(*read_file(place), "first");
}

TEST(UnfinishedFile, SaysThatAFolderIsMissing) {
  const Result<UnfinishedFile> file = UnfinishedFile::create("/nowhere/at/all.gguf");
  ASSERT_FALSE(file);
  EXPECT_EQ(file.error().kind, ErrorKind::NotFound);
}

}  // namespace
}  // namespace unmask
