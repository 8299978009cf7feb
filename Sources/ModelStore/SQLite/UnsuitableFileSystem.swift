/// A file system on which SQLite cannot store a database safely, and the reason.
///
/// For the numbers, see <https://man7.org/linux/man-pages/man2/statfs.2.html>, and the kernel
/// modules of file systems that Linux does not include.
struct UnsuitableFileSystem: Hashable, Sendable {
  /// Why SQLite cannot rely on it: <https://sqlite.org/wal.html>,
  /// <https://sqlite.org/howtocorrupt.html#_filesystems_with_broken_or_missing_lock_implementations>.
  enum Reason: Hashable, Sendable, CaseIterable {
    case network
    case cluster
    case userSpace
    case sharedFolder

    var text: String {
      switch self {
      case .network:
        "a network file system: its locks are unreliable, and computers do not share SQLite's -shm file"
      case .cluster:
        "a cluster file system: several computers can open the file, and they do not share SQLite's -shm file"
      case .userSpace:
        "a file system in user space (FUSE): its program may not support locks and shared memory"
      case .sharedFolder:
        "a shared folder of a virtual machine: the host does not see the same locks or -shm file"
      }
    }
  }

  let name: String
  let reason: Reason

  /// Creates the file system with the type that `statfs` reports; nil if it is suitable.
  init?(magic: UInt32) {
    guard let known = Self.table[magic] else { return nil }
    self = known
  }

  private init(_ name: String, _ reason: Reason) {
    self.name = name
    self.reason = reason
  }

  static let table: [UInt32: UnsuitableFileSystem] = [
    0x6969: .init("NFS", .network),
    0x517B: .init("SMB", .network),
    0xFE53_4D42: .init("SMB2", .network),
    0xFF53_4D42: .init("CIFS", .network),
    0x564C: .init("NCP", .network),
    0x7375_7245: .init("Coda", .network),
    0x5346_414F: .init("AFS", .network),
    0x6B41_4653: .init("kAFS", .network),
    0x00C3_6400: .init("Ceph", .network),
    0x0BD0_0BD0: .init("Lustre", .cluster),
    0x4750_4653: .init("GPFS", .cluster),
    0x1983_0326: .init("BeeGFS", .cluster),
    0x0116_1970: .init("GFS2", .cluster),
    0x7461_636F: .init("OCFS2", .cluster),
    0xAAD7_AAEA: .init("PanFS", .cluster),
    0x2003_0528: .init("OrangeFS", .cluster),
    0xBEEF_DEAD: .init("StorNext", .cluster),
    0x6163_6673: .init("ACFS", .cluster),
    0x6573_5546: .init("FUSE", .userSpace),
    0x0102_1997: .init("9P", .sharedFolder),
    0x786F_4256: .init("vboxsf", .sharedFolder),
    0xBACB_ACBC: .init("VMware hgfs", .sharedFolder),
    0x7C7C_6673: .init("Parallels shared folders", .sharedFolder),
    0x5346_4846: .init("WSL drvfs", .sharedFolder),
  ]
}
