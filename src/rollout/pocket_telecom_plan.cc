// Find the line, settle what keeps it suspended, then go through what the complaint points to; what
// cannot be mended goes to a human.
#include <array>

#include "environment/pocket/telecom.h"
#include "rollout/pocket_plan.h"

namespace unmask {

namespace pocket::telecom_world {
namespace {

class TelecomPlan : public PocketPlan {
 public:
  TelecomPlan(const pocket::Scene& scene, std::string_view opening) : scene_(scene) {
    const std::vector<std::string> words = words_of(opening);
    if (words.size() > 1) customer_ = words[1];
    for (std::size_t i = 0; i < kComplaints.size(); ++i)
      if (opening.ends_with(kComplaints[i].text)) complaint_ = i;
  }

  std::optional<PocketStep> next() const override {
    if (ended_) return std::nullopt;
    if (account_.empty()) return PocketStep{Customer, {customer_}};
    if (line_.empty()) return PocketStep{Line, {account_}};
    if (suspended_) return towards_service();
    if (complaint_ == kAbroad && !roaming_) return PocketStep{Roaming, {line_}};
    if (used_up_) return PocketStep{Data, {line_}};
    if (const std::optional<std::size_t> topic = towards_faults())
      return PocketStep{*topic, {line_}};
    if (restart_) return PocketStep{Phone, {line_}};
    if (!fast_) return PocketStep{Speed, {line_}};
    return PocketStep{*fast_ ? Case : Human, {account_}};
  }

  void learn(const PocketStep& step, std::string_view reply) override {
    const std::vector<std::string> words = words_of(reply);
    if (words.empty()) return;
    learn_of_account(step.topic, words);
    learn_of_device(step.topic, reply);
  }

  std::optional<PocketStep> detour(Rng& rng) const override {
    const std::optional<PocketStep> planned = next();
    if (line_.empty() || !planned) return std::nullopt;
    std::vector<std::size_t> choices;
    for (const std::size_t topic : {Line, Bill, Signal, Sim, Network, Apn, Vpn})
      if (topic != planned->topic && scene_.find_tool(topic)) choices.push_back(topic);
    const std::size_t topic = choices[rng.below(static_cast<std::uint32_t>(choices.size()))];
    return PocketStep{topic, {topic == Line || topic == Bill ? account_ : line_}};
  }

  std::vector<std::string> misplaced(const PocketStep&, std::size_t) const override { return {}; }

 private:
  PocketStep towards_service() const {
    if (!due_) return {Bill, {account_}};
    if (!*due_) return {Service, {line_}};
    if (!requested_) return {Payment, {bill_}};
    return {Wallet, {line_}};
  }

  std::optional<std::size_t> towards_faults() const {
    for (const std::size_t index : faults_of(kComplaints[complaint_])) {
      if (!faults_[index]) return kFaults[index].read;
      if (*faults_[index]) return kFaults[index].mend;
    }
    return std::nullopt;
  }

  void learn_of_account(std::size_t topic, const std::vector<std::string>& words) {
    switch (topic) {
      case Customer:
        account_ = words[0];
        break;
      case Line:  // "L42 active roam off data left"
        line_ = words[0];
        suspended_ = words.size() > 1 && words[1] == "suspended";
        roaming_ = words.size() > 3 && words[3] == "on";
        used_up_ = words.size() > 5 && words[5] == "out";
        break;
      case Bill:  // "B63 due"
        bill_ = words[0];
        due_ = words.size() > 1 && words[1] == "due";
        break;
      case Payment:
        requested_ = true;
        break;
      case Wallet:
        due_ = false;
        break;
      case Service:
        suspended_ = false;
        break;
      case Roaming:
        roaming_ = true;
        break;
      case Data:
        used_up_ = false;
        break;
      case Case:
      case Human:
        ended_ = true;
        break;
      default:
        break;
    }
  }

  void learn_of_device(std::size_t topic, std::string_view reply) {
    if (topic == Speed) fast_ = reply == "fast";
    if (topic == Phone) restart_ = false;
    for (std::size_t i = 0; i < kFaults.size(); ++i) {
      if (topic == kFaults[i].read) faults_[i] = reply == kFaults[i].bad;
      if (topic == kFaults[i].mend) faults_[i] = false;
    }
    if (topic == Profile) restart_ = true;
  }

  const pocket::Scene& scene_;
  std::string customer_;
  std::size_t complaint_ = 0;
  std::string account_;
  std::string line_;
  std::string bill_;
  bool suspended_ = false;
  std::optional<bool> due_;
  bool requested_ = false;
  bool roaming_ = false;
  bool used_up_ = false;
  std::array<std::optional<bool>, kFaults.size()> faults_;
  bool restart_ = false;
  std::optional<bool> fast_;
  bool ended_ = false;
};

}  // namespace
}  // namespace pocket::telecom_world

std::unique_ptr<PocketPlan> telecom_plan(const pocket::Scene& scene, std::string_view opening) {
  return std::make_unique<pocket::telecom_world::TelecomPlan>(scene, opening);
}

}  // namespace unmask
