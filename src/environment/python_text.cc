// Texts of Python: repr, str, lower case, printable characters.
#include <algorithm>
#include <cstdio>
#include <cstdlib>

#include "environment/python.h"
#include "environment/schema.h"
#include "environment/unicode_tables.h"

namespace unmask::python {

namespace {

bool within(const CodePointRange* ranges, std::size_t count, std::uint32_t c) {
  const CodePointRange* end = ranges + count;
  const CodePointRange* found = std::upper_bound(
      ranges, end, c, [](std::uint32_t value, const CodePointRange& r) { return value < r.first; });
  return found != ranges && c <= (found - 1)->last;
}

std::uint32_t lower_of(std::uint32_t c) {
  const CaseRun* end = kLower + kLowerCount;
  const CaseRun* found = std::upper_bound(
      kLower, end, c, [](std::uint32_t value, const CaseRun& r) { return value < r.first; });
  if (found == kLower) return c;
  const CaseRun& run = *(found - 1);
  if (c > run.last || (c - run.first) % run.step != 0) return c;
  return static_cast<std::uint32_t>(static_cast<std::int64_t>(c) + run.difference);
}

bool cased(std::uint32_t c) {
  return within(kCased, kCasedCount, c);
}
bool ignorable(std::uint32_t c) {
  return within(kCaseIgnorable, kCaseIgnorableCount, c);
}

// Unicode's Final_Sigma: after a cased letter and not before one, looking past ignorable marks.
bool final_sigma(const std::vector<std::uint32_t>& text, std::size_t i) {
  std::size_t before = i;
  while (before > 0 && ignorable(text[before - 1])) --before;
  if (before == 0 || !cased(text[before - 1])) return false;
  std::size_t after = i + 1;
  while (after < text.size() && ignorable(text[after])) ++after;
  return after == text.size() || !cased(text[after]);
}

}  // namespace

std::vector<std::uint32_t> code_points(std::string_view text) {
  std::vector<std::uint32_t> out;
  out.reserve(text.size());
  std::size_t i = 0;
  while (i < text.size()) {
    const unsigned char lead = static_cast<unsigned char>(text[i]);
    const std::size_t length = lead < 0x80 ? 1 : lead < 0xe0 ? 2 : lead < 0xf0 ? 3 : 4;
    if ((lead >= 0x80 && lead < 0xc2) || lead > 0xf4 || i + length > text.size()) {
      out.push_back(0xfffd);  // not text: readers refuse such bytes, so only a caller's own mistake
      ++i;
      continue;
    }
    std::uint32_t c = length == 1 ? lead : lead & (0xffU >> (length + 1));
    for (std::size_t k = 1; k < length; ++k)
      c = (c << 6) | (static_cast<unsigned char>(text[i + k]) & 0x3f);
    out.push_back(c);
    i += length;
  }
  return out;
}

void append_code_point(std::string& out, std::uint32_t c) {
  const auto byte = [&out](std::uint32_t value) { out += static_cast<char>(value); };
  if (c < 0x80) {
    byte(c);
  } else if (c < 0x800) {
    byte(0xc0 | (c >> 6));
    byte(0x80 | (c & 0x3f));
  } else if (c < 0x10000) {
    byte(0xe0 | (c >> 12));
    byte(0x80 | ((c >> 6) & 0x3f));
    byte(0x80 | (c & 0x3f));
  } else {
    byte(0xf0 | (c >> 18));
    byte(0x80 | ((c >> 12) & 0x3f));
    byte(0x80 | ((c >> 6) & 0x3f));
    byte(0x80 | (c & 0x3f));
  }
}

bool is_printable(std::uint32_t c) {
  return !within(kUnprintable, kUnprintableCount, c);
}

std::string lower_text(std::string_view text) {
  if (std::all_of(text.begin(), text.end(),
                  [](char c) { return static_cast<unsigned char>(c) < 0x80; })) {
    std::string out(text);
    for (char& c : out)
      if (c >= 'A' && c <= 'Z') c = static_cast<char>(c - 'A' + 'a');
    return out;
  }
  std::string out;
  const std::vector<std::uint32_t> characters = code_points(text);
  for (std::size_t i = 0; i < characters.size(); ++i) {
    const std::uint32_t c = characters[i];
    if (c == 0x130) {  // I with a dot: the one character whose lower case is two
      out += "i\xcc\x87";
    } else if (c == 0x3a3) {
      append_code_point(out, final_sigma(characters, i) ? 0x3c2 : 0x3c3);
    } else {
      append_code_point(out, lower_of(c));
    }
  }
  return out;
}

namespace {

void append_escape(std::string& out, std::uint32_t c) {
  char text[16];
  const char* format = c < 0x100 ? "\\x%02x" : c < 0x10000 ? "\\u%04x" : "\\U%08x";
  std::snprintf(text, sizeof text, format, c);
  out += text;
}

// 'datetime.date(2025, 2, 25)' from "2025-02-25"; seconds are left out where nothing follows.
std::string repr_date(const Value& v) {
  std::vector<int> parts;
  const std::string& text = v.as_str();
  std::size_t i = 0;
  while (i < text.size()) {
    if (text[i] < '0' || text[i] > '9') {
      ++i;
      continue;
    }
    std::size_t used = 0;
    parts.push_back(std::stoi(text.substr(i, 9), &used));
    i += used;
  }
  while (parts.size() > 5 && parts.back() == 0) parts.pop_back();
  std::string out = type_name(v) + "(";
  for (std::size_t k = 0; k < parts.size(); ++k) out += (k ? ", " : "") + std::to_string(parts[k]);
  return out + ")";
}

std::string repr_fields(const Value& model, std::string_view separator) {
  std::string out;
  for (std::size_t i = 0; i < model.size(); ++i) {
    if (i) out += separator;
    out += model.key(i) + "=" + repr(model[i]);
  }
  return out;
}

std::string repr_container(const Value& v) {
  const bool dict = v.is_dict();
  std::string out = dict ? "{" : "[";
  for (std::size_t i = 0; i < v.size(); ++i) {
    if (i) out += ", ";
    if (dict) out += repr_of_text(v.key(i)) + ": ";
    out += repr(v[i]);
  }
  return out + (dict ? "}" : "]");
}

}  // namespace

std::string repr_of_text(std::string_view text) {
  const bool single = text.find('\'') != std::string_view::npos;
  const char quote = single && text.find('"') == std::string_view::npos ? '"' : '\'';
  std::string out(1, quote);
  for (const std::uint32_t c : code_points(text)) {
    if (c == static_cast<std::uint32_t>(quote) || c == '\\') {
      out += '\\';
      out += static_cast<char>(c);
    } else if (c == '\n') {
      out += "\\n";
    } else if (c == '\r') {
      out += "\\r";
    } else if (c == '\t') {
      out += "\\t";
    } else if (is_printable(c)) {
      append_code_point(out, c);
    } else {
      append_escape(out, c);
    }
  }
  return out + quote;
}

std::string repr(const Value& v) {
  switch (v.kind()) {
    case Kind::None:
      return "None";
    case Kind::Bool:
      return v.as_bool() ? "True" : "False";
    case Kind::Int:
      return std::to_string(v.as_int());
    case Kind::BigInt:
      return v.as_str();
    case Kind::Float:
      return repr(v.as_float());
    case Kind::Str:
      return repr_of_text(v.as_str());
    case Kind::List:
    case Kind::Dict:
      return repr_container(v);
    case Kind::Model:
      return v.model_class().name + "(" + repr_fields(v, ", ") + ")";
    case Kind::Enum:
      return "<" + str(v) + ": " + repr_of_text(v.as_str()) + ">";
    case Kind::Date:
    case Kind::Datetime:
      return repr_date(v);
  }
  return "";
}

std::string str(const Value& v) {
  switch (v.kind()) {
    case Kind::Str:
    case Kind::Date:
    case Kind::Datetime:
      return v.as_str();
    case Kind::Enum:
      return v.as_enum().class_name + "." + v.as_enum().name;
    case Kind::Model:
      return repr_fields(v, " ");
    default:
      return repr(v);
  }
}

bool is_blank(std::string_view text) {
  const std::vector<std::uint32_t> points = code_points(text);
  return std::all_of(points.begin(), points.end(), [](std::uint32_t c) {
    return (c >= 0x09 && c <= 0x0d) || (c >= 0x1c && c <= 0x20) || c == 0x85 || c == 0xa0 ||
           c == 0x1680 || (c >= 0x2000 && c <= 0x200a) || c == 0x2028 || c == 0x2029 ||
           c == 0x202f || c == 0x205f || c == 0x3000;
  });
}

}  // namespace unmask::python
