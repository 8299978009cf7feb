import Testing

@testable import ModelStore

/// Whether a database and the files beside it may be used, for every owner, group and mode.
@Suite(.tags(.unit)) struct LocationSafetyTests {
  private static let user: UInt32 = 1000
  private static let owner: UInt32 = 1001
  private static let stranger: UInt32 = 1002
  private static let root: UInt32 = 0
  private static let privateGroup: UInt32 = 2000
  private static let staff: UInt32 = 2001
  private static let otherGroup: UInt32 = 2002

  /// `staff` has the user, the owner and others as its members; the private group only the user.
  private static let membership = GroupMembership(
    isPrivate: { group, _ in group == privateGroup },
    contains: { group, member in group == staff && [user, owner].contains(member) })

  private func safety(
    file: FileOwnership, directory: FileOwnership, sharing: StoreConfiguration.Sharing = .owner
  ) -> LocationSafety {
    LocationSafety(
      user: Self.user, file: file, directory: directory, sharing: sharing,
      membership: Self.membership)
  }

  private static let users = [user, owner, stranger, root]
  private static let groups = [privateGroup, staff, otherGroup]
  private static let modes: [UInt32] = [0o700, 0o755, 0o770, 0o775, 0o757, 0o777]

  /// The rules once more, in the words of the documentation.
  private func expected(
    _ file: FileOwnership, _ directory: FileOwnership, _ sharing: StoreConfiguration.Sharing
  ) -> LocationSafety.Verdict {
    let isOwn = [Self.user, Self.root].contains(file.user)
    let isWorld = directory.mode & 0o002 != 0
    let isGroup = directory.mode & 0o020 != 0 && directory.group != Self.privateGroup
    if !isWorld && !isGroup {
      return [Self.user, Self.root, file.user].contains(directory.user) ? .safe : .exposed
    }
    if directory.mode & 0o1000 != 0 && isOwn { return .exposed }
    if isWorld {
      return directory.mode & 0o1000 != 0
        ? .planted(by: file.user) : .replaceable(by: .anyone)
    }
    if sharing == .group && directory.group == file.group { return .exposed }
    return .replaceable(by: .group(directory.group))
  }

  @Test func everyDirectoryIsJudgedByItsWriters() {
    var count = 0
    for fileUser in Self.users {
      for fileGroup in Self.groups {
        for directoryUser in Self.users {
          for directoryGroup in Self.groups {
            for mode in Self.modes.flatMap({ [$0, $0 | 0o1000] }) {
              for sharing in StoreConfiguration.Sharing.allCases {
                let file = FileOwnership(user: fileUser, group: fileGroup, mode: 0o600)
                let directory = FileOwnership(
                  user: directoryUser, group: directoryGroup, mode: mode)
                count += 1
                #expect(
                  safety(file: file, directory: directory, sharing: sharing).verdict
                    == expected(file, directory, sharing),
                  "\(file) \(directory) \(sharing)")
              }
            }
          }
        }
      }
    }
    #expect(count == 4 * 3 * 4 * 3 * 12 * 2)
  }

  /// A companion of each owner, group and mode, beside files of each mode: exactly those that add
  /// no writer are accepted.
  @Test func aCompanionIsAcceptedWhenItAddsNoWriter() {
    let directory = FileOwnership(user: Self.root, group: Self.root, mode: 0o1777)
    for fileMode: UInt32 in [0o600, 0o640, 0o660, 0o666] {
      for companionUser in Self.users {
        for companionGroup in Self.groups {
          for companionMode: UInt32 in [0o600, 0o644, 0o660, 0o666] {
            for sharing in StoreConfiguration.Sharing.allCases {
              let file = FileOwnership(user: Self.owner, group: Self.staff, mode: fileMode)
              let companion = FileOwnership(
                user: companionUser, group: companionGroup, mode: companionMode)
              let problem = safety(file: file, directory: directory, sharing: sharing)
                .problem(withCompanion: companion)
              let expected: LocationSafety.CompanionProblem? =
                if companionUser == Self.stranger {
                  .foreignOwner(Self.stranger)
                } else if fileMode == 0o666 {
                  nil
                } else if companionMode == 0o666 {
                  .writable(by: .anyone)
                } else if companionMode != 0o660 || companionGroup == Self.privateGroup {
                  nil
                } else if fileMode == 0o660 && companionGroup == Self.staff {
                  nil
                } else {
                  .writable(by: .group(companionGroup))
                }
              #expect(problem == expected, "\(file) \(companion) \(sharing)")
            }
          }
        }
      }
    }
  }

  /// A member of the group that is neither root, nor the owner, nor this user.
  @Test func aMembersFileIsAcceptedOnlyWhenTheGroupShares() {
    let member: UInt32 = 1003
    let membership = GroupMembership(
      isPrivate: { _, _ in false }, contains: { $0 == Self.staff && $1 == member })
    let found = StoreConfiguration.Sharing.allCases.map { sharing in
      LocationSafety(
        user: Self.user, file: FileOwnership(user: Self.owner, group: Self.staff, mode: 0o660),
        directory: FileOwnership(user: Self.root, group: Self.staff, mode: 0o770),
        sharing: sharing, membership: membership
      )
      .problem(withCompanion: FileOwnership(user: member, group: Self.staff, mode: 0o660))
    }
    #expect(found == [.foreignOwner(member), nil])
  }

  @Test func theSystemKnowsThatRootIsAloneInItsGroup() {
    #expect(GroupMembership.system.isPrivate(0, [0]))
    #expect(GroupMembership.system.contains(0, 0))
    // A group without an entry is the own group of the user with its number.
    #expect(GroupMembership.system.isPrivate(4_000_000_001, [4_000_000_001, 0]))
    #expect(!GroupMembership.system.isPrivate(4_000_000_001, [0]))
    #expect(!GroupMembership.system.contains(0, 4_000_000_001))
  }
}

/// Which file systems a store refuses.
@Suite(.tags(.unit)) struct UnsuitableFileSystemTests {
  @Test func everyRefusedFileSystemHasANameAndAReason() {
    let found = UnsuitableFileSystem.table.map { magic, known in
      "\(known.name) \(known.reason) \(String(magic, radix: 16))"
    }
    #expect(
      found.sorted() == [
        "9P sharedFolder 1021997", "ACFS cluster 61636673", "AFS network 5346414f",
        "BeeGFS cluster 19830326", "CIFS network ff534d42", "Ceph network c36400",
        "Coda network 73757245", "FUSE userSpace 65735546", "GFS2 cluster 1161970",
        "GPFS cluster 47504653", "Lustre cluster bd00bd0", "NCP network 564c",
        "NFS network 6969", "OCFS2 cluster 7461636f", "OrangeFS cluster 20030528",
        "PanFS cluster aad7aaea", "Parallels shared folders sharedFolder 7c7c6673",
        "SMB network 517b", "SMB2 network fe534d42", "StorNext cluster beefdead",
        "VMware hgfs sharedFolder bacbacbc", "WSL drvfs sharedFolder 53464846",
        "kAFS network 6b414653", "vboxsf sharedFolder 786f4256",
      ])
  }

  @Test(arguments: [0xEF53, 0x5846_5342, 0x9123_683E, 0x0102_1994, 0x794C_7630, 0x2FC1_2FC1, 0])
  func aLocalFileSystemIsSuitable(magic: UInt32) {
    #expect(UnsuitableFileSystem(magic: magic) == nil)
  }

  @Test func theErrorNamesTheFileSystemAndTheReason() throws {
    for (magic, known) in UnsuitableFileSystem.table {
      let found = try #require(UnsuitableFileSystem(magic: magic))
      #expect(found == known)
      let error = DatabaseFile.Problem.unsuitableFileSystem(path: "/mnt/a.db", found).storeError
      #expect(
        error
          == StoreError(
            .unsafeLocation,
            "/mnt/a.db is on \(known.name), \(known.reason.text). Keep the store on a local disk."))
    }
  }
}
