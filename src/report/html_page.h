// The frame of the page and what its kinds share.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "report/html.h"
#include "report/html_fields.h"

namespace unmask::html {

struct Page {
  std::string title;     // plain text
  std::string headings;  // <header>'s content, escaped
  std::string body;      // <main>'s content, escaped
  std::string footer;    // escaped
};

// The whole document, with its style, its policy and the chart script.
std::string document(const Page& page, const ChartLibrary& charts);

std::string_view style_sheet();

// <section> with a heading of the given level; empty text where there is nothing inside.
std::string section(std::string_view id, int level, std::string_view heading,
                    const std::string& inner);

std::string bullet_list(const std::vector<std::string>& escaped_items,
                        std::string_view css_class = "");

// "▲": a mark that tells verdicts apart without colour.
std::string_view verdict_symbol(Verdict verdict);
// "v-masked".
std::string verdict_class(Verdict verdict);

// Warnings and dropped records as a list.
std::string evidence_list(const std::vector<Warning>& warnings,
                          const std::vector<Dropped>& dropped);

// What each number means, with the formulas used.
std::string method_notes(const CompareOptions& options, bool compares);

// Version, seed and command.
std::string provenance(const Provenance& provenance);

// The conversations around failed calls, channel by channel, under headings of `level`.
std::string excerpts(const std::vector<Excerpt>& baseline, const std::vector<Excerpt>& candidate,
                     std::string_view baseline_name, std::string_view candidate_name, int level);
std::string excerpts(const std::vector<Excerpt>& of_one_arm, int level);

}  // namespace unmask::html
