#include "quantize/quantize.h"

#include <gtest/gtest.h>
#include <sys/resource.h>
#include <unistd.h>

#include <csignal>
#include <cstring>
#include <filesystem>
#include <nlohmann/json.hpp>

#include "base/file.h"
#include "quantize/library.h"
#include "quantize/test_model.h"

namespace unmask {
namespace {

namespace fs = std::filesystem;

class Quantize : public ::testing::Test {
 protected:
  void SetUp() override {
    const std::string name = ::testing::UnitTest::GetInstance()->current_test_info()->name();
    folder_ = fs::path(::testing::TempDir()) / ("unmask_q_" + name + std::to_string(::getpid()));
    fs::remove_all(folder_);
    fs::create_directories(folder_);
  }
  void TearDown() override { fs::remove_all(folder_); }

  std::string path(const std::string& name) const { return (folder_ / name).string(); }

  void write_model(const TestModelShape& shape) const {
    ASSERT_TRUE(write_file(path("m.gguf"), test_model(shape)));
  }

  QuantizeRequest request(const std::vector<std::string>& names) const {
    QuantizeRequest request;
    request.model = path("m.gguf");
    request.folder = path("arms");
    request.threads = 2;
    request.version = "test";
    request.command = "unmask quantize m.gguf";
    for (const std::string& name : names) request.recipes.push_back(*recipe_named(name));
    return request;
  }

  // Makes the first recipe's arm.
  Result<ArmOutcome> made(const QuantizeRequest& request) const {
    const Result<ArmMaker> maker = ArmMaker::open(request);
    if (!maker) return maker.error();
    return maker->make(request.recipes[0]);
  }

  std::string calibration_file() const {
    std::string text;
    for (int i = 0; i < 40; ++i)
      text += "The tool list has getLine and setLine " + std::to_string(i);
    EXPECT_TRUE(write_file(path("text.txt"), text));
    return path("text.txt");
  }

  fs::path folder_;
};

std::vector<float> values_of(const Gguf& file, std::string_view name) {
  const GgufTensor* tensor = file.find_tensor(name);
  std::vector<float> values(tensor->bytes / tensor->type->bytes);
  read_floats(file.data(*tensor), *tensor->type, values);
  return values;
}

TestModelShape mixture(const std::string& type) {
  TestModelShape shape;
  shape.experts = 4;
  shape.type = type;
  return shape;
}

TEST_F(Quantize, RoundsLinearWeightsOfEveryExpertAndNothingElse) {
  for (const char* type : {"f32", "f16", "bf16"}) {
    fs::remove_all(folder_ / "arms");
    write_model(mixture(type));
    const Result<ArmOutcome> outcome = made(request({"int4_rtn_g32"}));
    ASSERT_TRUE(outcome) << to_string(outcome.error());
    const Result<Gguf> before = Gguf::open(path("m.gguf"));
    const Result<Gguf> after = Gguf::open(outcome->model_path);
    ASSERT_TRUE(before && after);
    for (const GgufTensor& tensor : before->tensors()) {
      std::vector<float> expected = values_of(*before, tensor.name);
      const std::string name(tensor.name);
      const bool linear =
          name.find("attn_q") != std::string::npos || name.find("attn_k") != std::string::npos ||
          name.find("attn_v") != std::string::npos ||
          name.find("attn_output") != std::string::npos || name.find("_exps") != std::string::npos;
      if (linear) {
        const std::size_t columns = tensor.shape[0];
        round_symmetric(expected, {expected.size() / columns, columns}, 4, 32);
        std::string bytes(expected.size() * tensor.type->bytes, '\0');
        write_floats(expected, *tensor.type, bytes);
        EXPECT_EQ(after->data(*after->find_tensor(name)), bytes) << name;
        EXPECT_NE(after->data(*after->find_tensor(name)), before->data(tensor)) << name;
      } else {
        EXPECT_EQ(after->data(*after->find_tensor(name)), before->data(tensor)) << name;
      }
    }
    EXPECT_EQ(after->find("unmask.recipe")->text(), "int4_rtn_g32");
  }
}

TEST_F(Quantize, TheJsonSaysWhatWasDone) {
  write_model({});
  const Result<ArmOutcome> outcome = made(request({"int3_rtn_channel"}));
  ASSERT_TRUE(outcome) << to_string(outcome.error());
  EXPECT_EQ(outcome->model_path, path("arms/m-int3_rtn_channel.gguf"));
  const nlohmann::json json = nlohmann::json::parse(*read_file(outcome->json_path));
  EXPECT_EQ(json["schema"], "unmask.quantize/1");
  EXPECT_EQ(json["recipe"]["group"], "channel");
  EXPECT_EQ(json["source"]["sha256"].get<std::string>().size(), 64u);
  EXPECT_TRUE(json["calibration"].is_null());
  EXPECT_GT(json["relative_rms"], 0.05);
  EXPECT_LT(json["relative_rms"], 0.5);
  EXPECT_EQ(json["tensors"].size(), 3u + 2 * 9);
  EXPECT_FALSE(json["tensors"][0]["changed"]);
  EXPECT_TRUE(json["tensors"][4]["changed"]);
  EXPECT_DOUBLE_EQ(json["tensors"][4]["bits"], 3 + 16.0 / 64);
}

TEST_F(Quantize, KeepsTheSameArmAndRefusesAnother) {
  write_model({});
  ASSERT_TRUE(made(request({"int4_rtn"})));
  const std::string first = *read_file(path("arms/m-int4_rtn.gguf"));
  const Result<ArmOutcome> again = made(request({"int4_rtn"}));
  ASSERT_TRUE(again) << to_string(again.error());
  EXPECT_TRUE(again->kept);

  TestModelShape other;
  other.seed = 2;
  write_model(other);
  const Result<ArmOutcome> refused = made(request({"int4_rtn"}));
  ASSERT_FALSE(refused);
  EXPECT_NE(refused.error().message.find("never overwritten"), std::string::npos);
  EXPECT_EQ(*read_file(path("arms/m-int4_rtn.gguf")), first);

  write_model({});
  std::string damaged = first;
  damaged[damaged.size() - 40] ^= 1;
  ASSERT_TRUE(write_file(path("arms/m-int4_rtn.gguf"), damaged));
  EXPECT_FALSE(made(request({"int4_rtn"})));
}

TEST_F(Quantize, TheSameBytesAtAnyNumberOfThreads) {
  write_model(mixture("bf16"));
  QuantizeRequest one = request({"fp8_e4m3"});
  one.threads = 1;
  const Result<ArmOutcome> first = made(one);
  ASSERT_TRUE(first);
  QuantizeRequest four = one;
  four.threads = 4;
  four.folder = path("arms4");
  const Result<ArmOutcome> second = made(four);
  ASSERT_TRUE(second);
  EXPECT_EQ(*read_file(first->model_path), *read_file(second->model_path));
}

TEST_F(Quantize, RefusesWhatIsQuantizedCutOrNotFinite) {
  write_model({});
  ASSERT_TRUE(made(request({"int4_rtn"})));
  QuantizeRequest again = request({"fp8_e4m3"});
  again.model = path("arms/m-int4_rtn.gguf");
  Result<ArmOutcome> outcome = made(again);
  ASSERT_FALSE(outcome);
  EXPECT_NE(outcome.error().message.find("an arm already"), std::string::npos);

  const std::string whole = *read_file(path("m.gguf"));
  for (const std::size_t size :
       {std::size_t{0}, std::size_t{3}, std::size_t{100}, whole.size() / 2, whole.size() - 1000}) {
    ASSERT_TRUE(write_file(path("m.gguf"), whole.substr(0, size)));
    EXPECT_FALSE(made(request({"fp8_e4m3"}))) << size;
  }
  std::string infinite = whole;
  const float infinity = std::numeric_limits<float>::infinity();
  std::memcpy(infinite.data() + infinite.size() - 64, &infinity, sizeof infinity);
  ASSERT_TRUE(write_file(path("m.gguf"), infinite));
  outcome = made(request({"fp8_e4m3"}));
  ASSERT_FALSE(outcome);
  EXPECT_NE(outcome.error().message.find("not a finite number"), std::string::npos);
  EXPECT_FALSE(fs::exists(path("arms/m-fp8_e4m3.gguf")));
}

TEST_F(Quantize, LeavesNothingBehindOnAFullDisk) {
  write_model({});
  std::signal(SIGXFSZ, SIG_IGN);
  rlimit before{};
  ASSERT_EQ(::getrlimit(RLIMIT_FSIZE, &before), 0);
  std::vector<std::string> names = {"int4_rtn"};
  if (!library_version().empty()) names.emplace_back("q8_0");
  for (const std::string& name : names) {
    rlimit small = before;
    small.rlim_cur = 40000;
    ASSERT_EQ(::setrlimit(RLIMIT_FSIZE, &small), 0);
    const Result<ArmOutcome> outcome = made(request({name}));
    ASSERT_EQ(::setrlimit(RLIMIT_FSIZE, &before), 0);
    ASSERT_FALSE(outcome) << name;
    EXPECT_NE(outcome.error().message.find("cannot write"), std::string::npos)
        << outcome.error().message;
    EXPECT_TRUE(fs::is_empty(path("arms"))) << name;
  }
}

TEST_F(Quantize, OutliersChangeColumnsAndNormsOnly) {
  write_model(mixture("f32"));
  QuantizeRequest with = request({"f32"});
  with.outliers = outliers_from("8/16");
  const Result<ArmOutcome> outcome = made(with);
  ASSERT_TRUE(outcome) << to_string(outcome.error());
  const Result<Gguf> before = Gguf::open(path("m.gguf"));
  const Result<Gguf> after = Gguf::open(outcome->model_path);
  ASSERT_TRUE(before && after);
  for (const GgufTensor& tensor : before->tensors()) {
    const std::vector<float> a = values_of(*before, tensor.name);
    const std::vector<float> b = values_of(*after, tensor.name);
    const OutlierPart part = outlier_part(tensor.name);
    for (std::size_t i = 0; i < a.size(); ++i) {
      const bool outlier = part != OutlierPart::None && i % tensor.shape[0] % 16 == 3;
      const float factor = !outlier ? 1.0f : part == OutlierPart::Norm ? 0.125f : 8.0f;
      ASSERT_EQ(b[i], a[i] * factor) << tensor.name << " " << i;
    }
  }
  EXPECT_EQ(after->find("unmask.outliers")->text(), "8/16");
  for (const fs::directory_entry& file : fs::directory_iterator(path("arms")))
    EXPECT_EQ(file.path().string().find("outliers"), std::string::npos) << file.path();
}

TEST_F(Quantize, SaysThatARecipeNeedsACalibration) {
  write_model({});
  for (const char* name : {"int4_awq", "q4_0_imatrix"}) {
    const Result<ArmOutcome> outcome = made(request({name}));
    ASSERT_FALSE(outcome);
    EXPECT_NE(outcome.error().message.find("--calibration"), std::string::npos);
  }
}

TEST(RecipeNames, AreReadWithTheirGroupsAndRefusedOtherwise) {
  EXPECT_EQ(recipe_named("INT4_RTN")->name, "int4_rtn");
  EXPECT_EQ(recipe_named("int4_rtn_g128")->name, "int4_rtn");
  EXPECT_EQ(recipe_named("int4_rtn", 64)->name, "int4_rtn_g64");
  EXPECT_EQ(recipe_named("int4_awq_channel")->group, 0u);
  EXPECT_EQ(recipe_named("fp8_e4m3_channel")->row->span, ScaleSpan::Channel);
  EXPECT_TRUE(recipe_named("q4_k_m_imatrix")->importance);
  EXPECT_TRUE(recipe_named("iq2_xxs")->importance);
  for (const char* name : {"", "int4", "int4_rtn_g0", "int4_rtn_gx", "fp8_e4m3_g64", "q4_0_g64",
                           "int4_rtn_imatrix", "_imatrix", "_channel"})
    EXPECT_FALSE(recipe_named(name)) << name;
}

TEST(OutlierNumbers, AreReadOrRefused) {
  EXPECT_EQ(outliers_from("6")->every, 32u);
  EXPECT_EQ(outliers_from("2.5/8")->scale, 2.5);
  for (const char* text : {"", "1", "0.5", "nan", "inf", "-3", "6/1", "6/", "6/x", "/8", "6/8/2"})
    EXPECT_FALSE(outliers_from(text)) << text;
}

TEST(CalibrationTexts, ReadPlainTextAndJsonLines) {
  EXPECT_EQ(calibration_texts("plain {text}\nmore", "f")->size(), 1u);
  const auto lines = calibration_texts(
      "{\"prompt\":\"a\"}\n\n{\"text\":\"b\"}\n"
      "{\"messages\":[{\"role\":\"user\",\"content\":\"c\"},{\"content\":null},{\"content\":\"d\"}]"
      "}",
      "f");
  ASSERT_TRUE(lines);
  EXPECT_EQ(*lines, (std::vector<std::string>{"a", "b", "c\nd"}));
  EXPECT_EQ(calibration_texts("{\"prompt\":\"a\"}\n{\"x\":1}\n", "f").error().where, "f:2");
  EXPECT_FALSE(calibration_texts(" \n", "f"));
  EXPECT_FALSE(calibration_texts("\xff\xfe", "f"));
}

TEST(LayerInputs, AddUpMeansAndKeepRows) {
  LayerInputs inputs(2, 2, 3, "w");
  for (int i = 1; i <= 5; ++i) {
    const float x[] = {static_cast<float>(i), static_cast<float>(-2 * i)};
    inputs.add(1, x);
  }
  EXPECT_EQ(inputs.rows_seen(0), 0u);
  EXPECT_EQ(inputs.sample(1).mean_magnitude, (std::vector<float>{3, 6}));
  EXPECT_EQ(inputs.importance(), (std::vector<float>{1, 1, 11, 44}));
  const std::vector<float> rows = inputs.sample(1).rows;
  ASSERT_EQ(rows.size(), 6u);
  for (std::size_t i = 0; i < 3; ++i) EXPECT_EQ(rows[2 * i + 1], -2 * rows[2 * i]);
}

}  // namespace
}  // namespace unmask
