#include "llm/model_file.h"

#include <gtest/gtest.h>
#include <unistd.h>

#include <filesystem>
#include <fstream>

#include "llm/file_hash.h"
#include "llm/tiny_gguf_for_tests.h"

namespace unmask {
namespace {

class ModelFileTest : public ::testing::Test {
 protected:
  void SetUp() override {
    path_ = ::testing::TempDir() + "model_file_" + std::to_string(getpid()) + ".gguf";
    std::ofstream(path_, std::ios::binary) << tiny_gguf();
    settings_.file = path_;
  }
  void TearDown() override { std::filesystem::remove(path_); }

  std::string path_;
  LlamaSettings settings_;
};

TEST_F(ModelFileTest, FillsInDefaults) {
  const Result<ModelFile> model = check_model_file(settings_);
  ASSERT_TRUE(model) << to_string(model.error());
  EXPECT_EQ(model->architecture, "llama");
  EXPECT_EQ(model->chat_template, kTinyTemplate);
  EXPECT_EQ(model->settings.context, 2048) << "the model's";
  EXPECT_EQ(model->settings.threads, 1) << "it is small";
}

TEST_F(ModelFileTest, ReckonsKeysAndValues) {
  settings_.context = 1000;
  settings_.parallel = 3;
  // 2 layers, 64 numbers of keys and 64 of values a token
  EXPECT_EQ(check_model_file(settings_)->kv_bytes, 2u * 128 * 2 * 1000 * 3);
  settings_.kv = "q4_0";
  EXPECT_EQ(check_model_file(settings_)->kv_bytes, 2u * 128 / 32 * 18 * 1000 * 3);
}

TEST_F(ModelFileTest, ComparesWithTheMemoryThereIs) {
  settings_.parallel = 1;
  const Result<ModelFile> model = check_model_file(settings_);
  ASSERT_TRUE(model);
  const std::uint64_t need = model->file_bytes + model->kv_bytes;
  EXPECT_TRUE(check_memory(*model, need));
  EXPECT_TRUE(check_memory(*model, std::nullopt));
  const Result<Done> refused = check_memory(*model, need - 1);
  ASSERT_FALSE(refused);
  EXPECT_EQ(refused.error().kind, ErrorKind::Unavailable);
  EXPECT_EQ(refused.error().message.find("does not fit the memory: "), 0u);
  EXPECT_GT(available_memory().value_or(0), 1u << 20);
}

TEST_F(ModelFileTest, IsKnownByItsHash) {
  std::ofstream(path_, std::ios::binary) << "abc";  // the example of FIPS 180-2
  const Result<std::string> hash = file_sha256(path_);
  ASSERT_TRUE(hash);
  EXPECT_EQ(*hash, "ba7816bf8f01cfea414140de5dae2223b00361a396177a9cb410ff61f20015ad");
  EXPECT_EQ(file_sha256(path_ + ".absent").error().kind, ErrorKind::NotFound);
}

TEST_F(ModelFileTest, RefusesAVocabularyAlone) {
#ifdef UNMASK_LLAMA_SOURCE
  settings_.file = UNMASK_LLAMA_SOURCE "/models/ggml-vocab-gemma-4.gguf";
  const Result<ModelFile> model = check_model_file(settings_);
  ASSERT_FALSE(model);
  EXPECT_EQ(model.error().message, "holds no tensors, only a vocabulary");
#else
  GTEST_SKIP() << "built without llama.cpp, whose files it reads";
#endif
}

}  // namespace
}  // namespace unmask
