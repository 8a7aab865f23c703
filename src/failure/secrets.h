// Taking secrets out of texts and settings before they are shown. A list of shapes, not a proof:
// what has none of them stays. Errs on the side of removing.
#pragma once

#include <string>
#include <string_view>

namespace unmask {

// `text` with what looks like a secret replaced by "[removed]": bearer and basic credentials, keys
// with a known prefix (sk-, ghp_, hf_, AKIA ...), JSON web tokens, private keys in PEM, user and
// password of an address, curl's -u, cookies, and values named api_key, token, password, secret and
// their kin, behind ':', '=', an option's or element's name or the word "is", whole where they are
// quoted, a list or an object (of which one quoted text is left, so that JSON stays JSON). Of an
// e-mail address the first letter and the domain stay, so that a lookup of a customer who does not
// exist can still be understood. Names, addresses and phone numbers stay: no rule knows them. Takes
// time in proportion to the text.
std::string without_secrets(std::string_view text);

// Settings as JSON with the value of every name that tells a secret replaced by the text
// "[removed]", and its other texts without secrets: the result is JSON where `json` was. What is
// null, true, false or empty stays. Settings that are not JSON are treated as a text.
std::string settings_without_secrets(std::string_view json);

}  // namespace unmask
