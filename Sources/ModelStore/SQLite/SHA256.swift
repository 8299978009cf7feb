/// SHA-256 as defined by FIPS 180-4, for bytes that arrive in pieces. It uses constant memory.
struct SHA256 {
  /// The number of bytes in a digest.
  static let byteCount = 32

  private var state = Self.initialState
  /// The bytes of the incomplete block.
  private var block = [UInt8](repeating: 0, count: blockByteCount)
  private var blockCount = 0
  private var schedule = [UInt32](repeating: 0, count: 64)
  private var messageByteCount: UInt64 = 0

  private static let blockByteCount = 64

  /// Adds one byte to the message.
  mutating func update(_ byte: UInt8) {
    block[blockCount] = byte
    blockCount += 1
    messageByteCount &+= 1
    if blockCount == Self.blockByteCount { compressBlock() }
  }

  /// Adds a number to the message: eight bytes, the most significant first.
  mutating func update(_ number: UInt64) {
    for shift in stride(from: UInt64(56), through: 0, by: -8) {
      update(UInt8(truncatingIfNeeded: number >> shift))
    }
  }

  /// Adds bytes to the message.
  mutating func update(_ bytes: [UInt8]) {
    var rest = bytes[...]
    while !rest.isEmpty {
      let count = min(rest.count, Self.blockByteCount - blockCount)
      block.withUnsafeMutableBytes { block in
        rest.withUnsafeBytes { rest in
          block[blockCount...].copyBytes(from: rest[..<count])
        }
      }
      rest = rest.dropFirst(count)
      blockCount += count
      messageByteCount &+= UInt64(count)
      if blockCount == Self.blockByteCount { compressBlock() }
    }
  }

  /// Returns the digest of the message.
  consuming func finish() -> [UInt8] {
    let bitCount = messageByteCount &* 8
    update(0x80 as UInt8)
    while blockCount != Self.blockByteCount - 8 { update(0 as UInt8) }
    update(bitCount)
    var digest: [UInt8] = []
    digest.reserveCapacity(Self.byteCount)
    for word in state {
      for shift in stride(from: UInt32(24), through: 0, by: -8) {
        digest.append(UInt8(truncatingIfNeeded: word >> shift))
      }
    }
    return digest
  }

  /// Section 6.2.2. The pointers make builds without optimization fast enough for large stores.
  private mutating func compressBlock() {
    blockCount = 0
    state.withUnsafeMutableBufferPointer { state in
      block.withUnsafeBufferPointer { block in
        schedule.withUnsafeMutableBufferPointer { schedule in
          Self.constants.withUnsafeBufferPointer { constants in
            Self.expand(block, into: schedule)
            Self.mix(schedule, constants, into: state)
          }
        }
      }
    }
  }

  private static func expand(
    _ block: UnsafeBufferPointer<UInt8>, into schedule: UnsafeMutableBufferPointer<UInt32>
  ) {
    var index = 0
    while index < 16 {
      let first = index &* 4
      schedule[index] =
        UInt32(block[first]) &<< 24 | UInt32(block[first &+ 1]) &<< 16
        | UInt32(block[first &+ 2]) &<< 8 | UInt32(block[first &+ 3])
      index &+= 1
    }
    while index < 64 {
      let early = schedule[index &- 15]
      let late = schedule[index &- 2]
      let sigma0 =
        (early &>> 7 | early &<< 25) ^ (early &>> 18 | early &<< 14) ^ early &>> 3
      let sigma1 = (late &>> 17 | late &<< 15) ^ (late &>> 19 | late &<< 13) ^ late &>> 10
      schedule[index] = schedule[index &- 16] &+ sigma0 &+ schedule[index &- 7] &+ sigma1
      index &+= 1
    }
  }

  private static func mix(
    _ schedule: UnsafeMutableBufferPointer<UInt32>, _ constants: UnsafeBufferPointer<UInt32>,
    into state: UnsafeMutableBufferPointer<UInt32>
  ) {
    var (a, b, c, d) = (state[0], state[1], state[2], state[3])
    var (e, f, g, h) = (state[4], state[5], state[6], state[7])
    var index = 0
    while index < 64 {
      let sum1 = (e &>> 6 | e &<< 26) ^ (e &>> 11 | e &<< 21) ^ (e &>> 25 | e &<< 7)
      let choice = (e & f) ^ (~e & g)
      let first = h &+ sum1 &+ choice &+ constants[index] &+ schedule[index]
      let sum0 = (a &>> 2 | a &<< 30) ^ (a &>> 13 | a &<< 19) ^ (a &>> 22 | a &<< 10)
      let majority = (a & b) ^ (a & c) ^ (b & c)
      (h, g, f, e) = (g, f, e, d &+ first)
      (d, c, b, a) = (c, b, a, first &+ sum0 &+ majority)
      index &+= 1
    }
    for (index, word) in [a, b, c, d, e, f, g, h].enumerated() { state[index] &+= word }
  }

  private static let initialState: [UInt32] = [
    0x6A09_E667, 0xBB67_AE85, 0x3C6E_F372, 0xA54F_F53A,
    0x510E_527F, 0x9B05_688C, 0x1F83_D9AB, 0x5BE0_CD19,
  ]

  private static let constants: [UInt32] = [
    0x428A_2F98, 0x7137_4491, 0xB5C0_FBCF, 0xE9B5_DBA5, 0x3956_C25B, 0x59F1_11F1, 0x923F_82A4,
    0xAB1C_5ED5, 0xD807_AA98, 0x1283_5B01, 0x2431_85BE, 0x550C_7DC3, 0x72BE_5D74, 0x80DE_B1FE,
    0x9BDC_06A7, 0xC19B_F174, 0xE49B_69C1, 0xEFBE_4786, 0x0FC1_9DC6, 0x240C_A1CC, 0x2DE9_2C6F,
    0x4A74_84AA, 0x5CB0_A9DC, 0x76F9_88DA, 0x983E_5152, 0xA831_C66D, 0xB003_27C8, 0xBF59_7FC7,
    0xC6E0_0BF3, 0xD5A7_9147, 0x06CA_6351, 0x1429_2967, 0x27B7_0A85, 0x2E1B_2138, 0x4D2C_6DFC,
    0x5338_0D13, 0x650A_7354, 0x766A_0ABB, 0x81C2_C92E, 0x9272_2C85, 0xA2BF_E8A1, 0xA81A_664B,
    0xC24B_8B70, 0xC76C_51A3, 0xD192_E819, 0xD699_0624, 0xF40E_3585, 0x106A_A070, 0x19A4_C116,
    0x1E37_6C08, 0x2748_774C, 0x34B0_BCB5, 0x391C_0CB3, 0x4ED8_AA4A, 0x5B9C_CA4F, 0x682E_6FF3,
    0x748F_82EE, 0x78A5_636F, 0x84C8_7814, 0x8CC7_0208, 0x90BE_FFFA, 0xA450_6CEB, 0xBEF9_A3F7,
    0xC671_78F2,
  ]
}
