#ifdef UNMASK_WITH_LLAMA
#include "quantize/library.h"

#include <gtest/gtest.h>
#include <llama.h>
#include <unistd.h>

#include <cmath>
#include <filesystem>
#include <memory>

#include "base/file.h"
#include "quantize/library_session.h"
#include "quantize/quantize.h"
#include "quantize/test_model.h"

namespace unmask {
namespace {

namespace fs = std::filesystem;

constexpr const char* kText = "tools: getLine call, setLine ask. Please reset the line of user 7.";

// Logits of the last token of kText.
std::vector<float> logits_of(const std::string& path) {
  const LibrarySession session;
  llama_model_params model_params = llama_model_default_params();
  const std::unique_ptr<llama_model, void (*)(llama_model*)> model(
      llama_model_load_from_file(path.c_str(), model_params), llama_model_free);
  if (!model) return {};
  llama_context_params params = llama_context_default_params();
  params.n_ctx = 256;
  params.n_threads = 1;
  params.n_threads_batch = 1;
  const std::unique_ptr<llama_context, void (*)(llama_context*)> context(
      llama_init_from_model(model.get(), params), llama_free);
  if (!context) return {};
  const llama_vocab* vocab = llama_model_get_vocab(model.get());
  std::vector<llama_token> tokens(256);
  const std::string text = kText;
  const int count = llama_tokenize(vocab, text.data(), static_cast<int>(text.size()), tokens.data(),
                                   256, false, true);
  if (count <= 0) return {};
  if (llama_decode(context.get(), llama_batch_get_one(tokens.data(), count)) != 0) return {};
  const float* logits = llama_get_logits_ith(context.get(), -1);
  return {logits, logits + llama_vocab_n_tokens(vocab)};
}

double largest_difference(const std::vector<float>& a, const std::vector<float>& b) {
  if (a.size() != b.size() || a.empty()) return INFINITY;
  double largest = 0;
  for (std::size_t i = 0; i < a.size(); ++i)
    largest = std::max(largest, std::fabs(static_cast<double>(a[i]) - static_cast<double>(b[i])));
  return largest;
}

class Library : public ::testing::Test {
 protected:
  void SetUp() override {
    const std::string name = ::testing::UnitTest::GetInstance()->current_test_info()->name();
    folder_ = fs::path(::testing::TempDir()) / ("unmask_l_" + name + std::to_string(::getpid()));
    fs::remove_all(folder_);
    fs::create_directories(folder_);
  }
  void TearDown() override { fs::remove_all(folder_); }
  std::string path(const std::string& name) const { return (folder_ / name).string(); }

  QuantizeRequest request(const TestModelShape& shape,
                          const std::vector<std::string>& names) const {
    EXPECT_TRUE(write_file(path("m.gguf"), test_model(shape)));
    std::string text;
    for (int i = 0; i < 30; ++i) text += std::string(kText) + std::to_string(i * i) + "\n";
    EXPECT_TRUE(write_file(path("text.txt"), text));
    QuantizeRequest request;
    request.model = path("m.gguf");
    request.folder = path("arms");
    request.calibration = path("text.txt");
    request.threads = 2;
    request.version = "test";
    for (const std::string& name : names) request.recipes.push_back(*recipe_named(name));
    return request;
  }

  fs::path folder_;
};

TEST_F(Library, RunsEverySimulatedArmNearTheModelItCameFrom) {
  for (const std::uint32_t experts : {0u, 4u}) {
    TestModelShape shape;
    shape.experts = experts;
    shape.type = "bf16";
    fs::remove_all(path("arms"));
    const QuantizeRequest wanted =
        request(shape, {"bf16", "fp8_e4m3", "fp8_e4m3_channel", "int4_rtn_g32", "int4_awq_g32",
                        "int3_awq_g32", "q8_0", "mxfp4_moe", "iq4_nl", "q4_0_imatrix"});
    const Result<ArmMaker> maker = ArmMaker::open(wanted);
    ASSERT_TRUE(maker) << to_string(maker.error());
    const std::vector<float> full = logits_of(path("m.gguf"));
    ASSERT_FALSE(full.empty());
    for (const Recipe& recipe : wanted.recipes) {
      const Result<ArmOutcome> outcome = maker->make(recipe);
      ASSERT_TRUE(outcome) << to_string(outcome.error());
      const double difference = largest_difference(full, logits_of(outcome->model_path));
      EXPECT_LT(difference, 4.0) << recipe.name;
      if (recipe.name == "bf16")
        EXPECT_EQ(difference, 0);
      else
        EXPECT_GT(difference, 0) << recipe.name;
      EXPECT_EQ(outcome->unseen, 0u) << recipe.name;
    }
  }
}

TEST_F(Library, OutliersLeaveTheLogitsAsTheyWere) {
  for (const std::uint32_t experts : {0u, 4u}) {
    TestModelShape shape;
    shape.experts = experts;
    fs::remove_all(path("arms"));
    fs::remove_all(path("plain"));
    QuantizeRequest wanted = request(shape, {"f32", "int4_rtn"});
    wanted.outliers = outliers_from("6/16");
    const Result<ArmMaker> maker = ArmMaker::open(wanted);
    ASSERT_TRUE(maker) << to_string(maker.error());
    const Result<ArmOutcome> full = maker->make(wanted.recipes[0]);
    ASSERT_TRUE(full) << to_string(full.error());
    const std::vector<float> before = logits_of(path("m.gguf"));
    EXPECT_LT(largest_difference(before, logits_of(full->model_path)), 1e-4);

    const Result<ArmOutcome> rounded = maker->make(wanted.recipes[1]);
    ASSERT_TRUE(rounded);
    QuantizeRequest without = request(shape, {"int4_rtn"});
    without.folder = path("plain");
    const Result<ArmMaker> plain = ArmMaker::open(without);
    const Result<ArmOutcome> arm = plain->make(without.recipes[0]);
    ASSERT_TRUE(arm);
    EXPECT_GT(largest_difference(before, logits_of(rounded->model_path)),
              largest_difference(before, logits_of(arm->model_path)));
  }
}

// The first block reads the embeddings, normalized: that can be told without llama.cpp.
TEST_F(Library, SeesTheInputsOfTheFirstBlockAsTheyAre) {
  const QuantizeRequest wanted = request({}, {"int4_awq"});
  const std::string text = kText;
  const Result<Calibration> seen =
      watch_inputs(wanted.model, {text}, {}, {}, [](std::uint64_t, std::uint64_t) {});
  ASSERT_TRUE(seen) << to_string(seen.error());
  EXPECT_EQ(seen->tokens, text.size());
  const LayerInputs& q = seen->inputs.at("blk.0.attn_q.weight");
  EXPECT_EQ(q.rows_seen(0), text.size());
  EXPECT_EQ(seen->inputs.at("blk.1.ffn_down.weight").rows_seen(0), text.size());

  const Result<Gguf> model = Gguf::open(wanted.model);
  ASSERT_TRUE(model);
  const auto values = [&](std::string_view name) {
    const GgufTensor* tensor = model->find_tensor(name);
    std::vector<float> out(tensor->bytes / 4);
    read_floats(model->data(*tensor), *tensor->type, out);
    return out;
  };
  const std::vector<float> embeddings = values("token_embd.weight");
  const std::vector<float> norm = values("blk.0.attn_norm.weight");
  std::vector<double> magnitude(64);
  for (const char c : text) {
    const float* x = embeddings.data() + static_cast<unsigned char>(c) * 64;
    double squares = 0;
    for (int i = 0; i < 64; ++i) squares += static_cast<double>(x[i]) * x[i];
    const double rms = std::sqrt(squares / 64 + 1e-5);
    for (std::size_t i = 0; i < 64; ++i)
      magnitude[i] += std::fabs(x[i] / rms * norm[i]) / static_cast<double>(text.size());
  }
  const InputSample sample = q.sample(0);
  for (std::size_t i = 0; i < 64; ++i)
    EXPECT_NEAR(sample.mean_magnitude[i], magnitude[i], 1e-5) << i;
}

TEST_F(Library, CountsWhatEachExpertSaw) {
  TestModelShape shape;
  shape.experts = 4;
  const QuantizeRequest wanted = request(shape, {"int4_awq"});
  const Result<Calibration> seen =
      watch_inputs(wanted.model, {kText}, {}, {}, [](std::uint64_t, std::uint64_t) {});
  ASSERT_TRUE(seen) << to_string(seen.error());
  for (const char* name : {"blk.0.ffn_up_exps.weight", "blk.1.ffn_down_exps.weight"}) {
    std::uint64_t rows = 0;
    for (std::size_t expert = 0; expert < 4; ++expert)
      rows += seen->inputs.at(name).rows_seen(expert);
    EXPECT_EQ(rows, 2 * seen->tokens) << name;
  }
}

TEST_F(Library, CutsACalibrationThatIsTooLong) {
  QuantizeRequest wanted = request({}, {"int4_awq"});
  CalibrationOptions options;
  options.most_tokens = 300;
  const Result<Calibration> seen = watch_inputs(wanted.model, {std::string(1000, 'x')}, options, {},
                                                [](std::uint64_t, std::uint64_t) {});
  ASSERT_TRUE(seen) << to_string(seen.error());
  EXPECT_EQ(seen->tokens, 300u);
  EXPECT_TRUE(seen->cut);
}

TEST_F(Library, ReportsRowsThatDoNotFitTheType) {
  const QuantizeRequest wanted = request({}, {"q4_k_m"});
  const Result<ArmMaker> maker = ArmMaker::open(wanted);
  ASSERT_TRUE(maker);
  const Result<ArmOutcome> outcome = maker->make(wanted.recipes[0]);
  ASSERT_TRUE(outcome) << to_string(outcome.error());
  EXPECT_EQ(outcome->fallbacks, 2u * 7 + 2);
  TestModelShape wide;
  wide.width = 256;
  wide.ffn = 256;
  const QuantizeRequest fits = request(wide, {"iq2_xxs"});
  fs::remove_all(path("arms"));
  const Result<ArmMaker> second = ArmMaker::open(fits);
  ASSERT_TRUE(second) << to_string(second.error());
  const Result<ArmOutcome> whole = second->make(fits.recipes[0]);
  ASSERT_TRUE(whole) << to_string(whole.error());
  EXPECT_EQ(whole->fallbacks, 0u);
  EXPECT_EQ(whole->model_path, path("arms/m-iq2_xxs_imatrix.gguf"));
}

TEST_F(Library, SaysWhatLlamaCppSaysOfAnUnknownArchitecture) {
  const QuantizeRequest wanted = request({}, {"q8_0"});
  std::string bytes = test_model({});
  const std::size_t at = bytes.find("general.architecture") + 20 + 4 + 8;
  ASSERT_EQ(bytes.substr(at, 5), "llama");
  bytes.replace(at, 5, "llamb");
  ASSERT_TRUE(write_file(path("m.gguf"), bytes));
  const Result<ArmMaker> maker = ArmMaker::open(wanted);
  ASSERT_TRUE(maker);
  const Result<ArmOutcome> outcome = maker->make(wanted.recipes[0]);
  ASSERT_FALSE(outcome);
  EXPECT_NE(outcome.error().message.find("llamb"), std::string::npos) << outcome.error().message;
  EXPECT_TRUE(fs::is_empty(path("arms")));
}

TEST_F(Library, MakesTheStudysArms) {
  const std::string study = std::string(UNMASK_SHARED) + "/pocket-study/pocket_R-BF16.gguf";
  if (!fs::exists(study)) GTEST_SKIP() << study << " is not there";
  QuantizeRequest wanted = request({}, {"int4_rtn", "int3_rtn", "fp8_e4m3", "q4_k_s", "q8_0"});
  wanted.model = study;
  const Result<ArmMaker> maker = ArmMaker::open(wanted);
  ASSERT_TRUE(maker) << to_string(maker.error());
  std::map<std::string, double> errors;
  for (const Recipe& recipe : wanted.recipes) {
    const Result<ArmOutcome> outcome = maker->make(recipe);
    ASSERT_TRUE(outcome) << to_string(outcome.error());
    errors[recipe.name] = outcome->error.relative_rms();
  }
  EXPECT_LT(errors["q8_0"], errors["fp8_e4m3"]);
  EXPECT_LT(errors["fp8_e4m3"], errors["q4_k_s"]);
  EXPECT_LT(errors["int4_rtn"], errors["int3_rtn"]);
}

}  // namespace
}  // namespace unmask
#endif
