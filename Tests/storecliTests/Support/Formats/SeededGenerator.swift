/// SplitMix64: the same seed gives the same run. Failure messages print the seed.
struct SeededGenerator: RandomNumberGenerator {
  private var state: UInt64

  init(seed: UInt64) {
    state = seed
  }

  mutating func next() -> UInt64 {
    state &+= 0x9E37_79B9_7F4A_7C15
    var mixed = state
    mixed = (mixed ^ (mixed >> 30)) &* 0xBF58_476D_1CE4_E5B9
    mixed = (mixed ^ (mixed >> 27)) &* 0x94D0_49BB_1331_11EB
    return mixed ^ (mixed >> 31)
  }
}

extension SeededGenerator {
  /// A text of characters that formats trip over: delimiters, quotes, line ends, marks, emoji.
  mutating func awkwardText(lengthMax: Int = 12) -> String {
    let characters: [Character] = [
      "a", "B", "7", " ", ",", ";", "\"", "'", "\\", "/", "\t", "\n", "\r", "\r\n", "\0", "\u{1B}",
      "\u{7F}", "\u{85}", "\u{9B}", "\u{A0}", "\u{FEFF}", "\u{2028}", "\u{202E}", "é", "e\u{301}",
      "ß", "你", "한", "\u{1112}\u{1161}\u{11AB}", "👍", "👍🏽", "👨‍👩‍👧", "🇨🇭", "\u{FFFD}", "\u{10FFFF}",
    ]
    var text = ""
    for _ in 0..<Int.random(in: 0...lengthMax, using: &self) {
      text.append(characters.randomElement(using: &self) ?? "a")
    }
    return text
  }

  /// A number whose bits are random, never infinite or NaN.
  mutating func finiteReal() -> Double {
    while true {
      let number = Double(bitPattern: next())
      if number.isFinite { return number }
    }
  }

  /// Bytes of any value.
  mutating func bytes(countMax: Int) -> [UInt8] {
    (0..<Int.random(in: 0...countMax, using: &self)).map { _ in
      UInt8.random(in: .min ... .max, using: &self)
    }
  }
}
