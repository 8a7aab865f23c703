// A word as text that a shell reads back as the same word.
#pragma once

#include <string>
#include <string_view>

namespace unmask {

// 'it'\''s' where quoting is needed, $'\x1b' where the word holds control characters or a
// backtick, which would end the code of a Markdown text it stands in. `ascii`: bytes beyond ASCII
// are written that way too, for words that would not be shown as they are.
std::string shell_quoted(std::string_view word, bool ascii = false);

}  // namespace unmask
