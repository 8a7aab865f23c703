#include "llm/file_hash.h"

#include <openssl/evp.h>

#include <algorithm>
#include <array>
#include <memory>
#include <span>

#include "base/check.h"
#include "base/mapped_file.h"

namespace unmask {

namespace {

std::string hex_of(std::span<const unsigned char> digest) {
  std::string hex;
  for (const unsigned char byte : digest) {
    constexpr char kDigits[] = "0123456789abcdef";
    hex += kDigits[byte >> 4];
    hex += kDigits[byte & 15];
  }
  return hex;
}

}  // namespace

std::string text_sha256(std::string_view text) {
  std::array<unsigned char, EVP_MAX_MD_SIZE> digest;
  unsigned size = 0;
  UNMASK_CHECK(EVP_Digest(text.data(), text.size(), digest.data(), &size, EVP_sha256(), nullptr) ==
               1);
  return hex_of({digest.data(), size});
}

Result<std::string> file_sha256(const std::string& path) {
  constexpr std::size_t kPiece = std::size_t{8} << 20;
  const Result<MappedFile> file = MappedFile::open(path);
  if (!file) return file.error();
  MappedFile::guard_reads();
  const std::unique_ptr<EVP_MD_CTX, decltype(&EVP_MD_CTX_free)> context(EVP_MD_CTX_new(),
                                                                        EVP_MD_CTX_free);
  UNMASK_CHECK(context && EVP_DigestInit_ex(context.get(), EVP_sha256(), nullptr) == 1);
  const std::string_view bytes = file->bytes();
  for (std::size_t at = 0; at < bytes.size(); at += kPiece) {
    const std::size_t length = std::min(kPiece, bytes.size() - at);
    UNMASK_CHECK(EVP_DigestUpdate(context.get(), bytes.data() + at, length) == 1);
    file->forget(at, length);
  }
  if (!file->still_whole())
    return Error{ErrorKind::Unavailable, "became shorter while it was read", path};
  std::array<unsigned char, EVP_MAX_MD_SIZE> digest;
  unsigned size = 0;
  UNMASK_CHECK(EVP_DigestFinal_ex(context.get(), digest.data(), &size) == 1);
  return hex_of({digest.data(), size});
}

}  // namespace unmask
