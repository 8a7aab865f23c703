#include "llm/endpoint_url.h"

#include <curl/curl.h>

#include <memory>

namespace unmask {
namespace {

class Url {
 public:
  Url() : url_(curl_url(), curl_url_cleanup) {}

  bool parse(const std::string& text) {
    return curl_url_set(url_.get(), CURLUPART_URL, text.c_str(), 0) == CURLUE_OK;
  }
  std::string get(CURLUPart part, unsigned flags = 0) const {
    char* text = nullptr;
    if (curl_url_get(url_.get(), part, &text, flags) != CURLUE_OK) return "";
    std::string out(text);
    curl_free(text);
    return out;
  }
  void set(CURLUPart part, const char* value) { curl_url_set(url_.get(), part, value, 0); }

 private:
  std::unique_ptr<CURLU, void (*)(CURLU*)> url_;
};

std::string completions_path(std::string path) {
  while (!path.empty() && path.back() == '/') path.pop_back();
  if (path.ends_with("/chat/completions")) return path;
  return path.empty() ? "/v1/chat/completions" : path + "/chat/completions";
}

// Values in a query that look like keys; short ones are versions and the like.
void add_query_secrets(const std::string& query, std::vector<std::string>& secrets) {
  constexpr std::size_t kShortest = 16;
  for (std::size_t at = 0; at < query.size();) {
    const std::size_t end = std::min(query.find('&', at), query.size());
    const std::size_t equals = query.find('=', at);
    if (equals < end && end - equals - 1 >= kShortest)
      secrets.push_back(query.substr(equals + 1, end - equals - 1));
    at = end + 1;
  }
}

}  // namespace

Result<EndpointUrl> chat_completions_url(std::string_view base) {
  const Error wrong{ErrorKind::InvalidArgument,
                    "base_url is not an address such as http://127.0.0.1:8000/v1", ""};
  const std::string text(base);
  if (!text.starts_with("http://") && !text.starts_with("https://")) return wrong;
  if (text.find('\0') != std::string::npos) return wrong;
  Url url;
  if (!url.parse(text) || url.get(CURLUPART_HOST).empty()) return wrong;
  url.set(CURLUPART_FRAGMENT, nullptr);
  url.set(CURLUPART_PATH, completions_path(url.get(CURLUPART_PATH)).c_str());

  EndpointUrl out;
  out.full = url.get(CURLUPART_URL);
  for (const unsigned flags : {0U, unsigned{CURLU_URLDECODE}})
    out.secrets.push_back(url.get(CURLUPART_PASSWORD, flags));
  add_query_secrets(url.get(CURLUPART_QUERY), out.secrets);
  for (const CURLUPart part : {CURLUPART_USER, CURLUPART_PASSWORD, CURLUPART_QUERY})
    url.set(part, nullptr);
  out.printable = url.get(CURLUPART_URL);
  if (out.full.empty() || out.printable.empty()) return wrong;
  return out;
}

}  // namespace unmask
