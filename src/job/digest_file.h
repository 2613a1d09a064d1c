// Digests as bytes. A file holds any number of them, one behind the other: files are joined by putting them together.
//
// A record is: the magic, the length of what follows as eight bytes (little endian), the content, and eight bytes of its hash.
// The content is numbers of seven bits a byte (the eighth: more follow), those that may be negative folded (0, -1, 1, -2, ...),
// times as differences; texts with their length before them.
// What is read was written by anybody: every count, index and time is checked before it is used, and memory is bounded by the
// size of the file.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include <ridge/result.h>

#include "job/digest.h"

namespace ridge {

// Its last letter is the version of what follows.
inline constexpr std::string_view kDigestMagic = "ridgedg2";

bool is_digest(std::string_view first_bytes);

void append_digest(const Digest& digest, std::string* out);

// `where`: the file, for messages. A record that is damaged is an error that says at which byte.
Result<std::vector<Digest>> read_digests(std::string_view bytes, const std::string& where);

}  // namespace ridge
