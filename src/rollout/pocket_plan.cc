#include "rollout/pocket_plan.h"

namespace unmask {

std::vector<std::string> words_of(std::string_view text) {
  std::vector<std::string> words;
  while (!text.empty()) {
    const std::size_t end = std::min(text.find(' '), text.size());
    if (end > 0) words.emplace_back(text.substr(0, end));
    text.remove_prefix(std::min(end + 1, text.size()));
  }
  return words;
}

std::unique_ptr<PocketPlan> pocket_plan(const pocket::PocketWorld& world,
                                        const pocket::Scene& scene, std::string_view opening) {
  return &world == &pocket::telecom() ? telecom_plan(scene, opening) : retail_plan(scene, opening);
}

}  // namespace unmask
