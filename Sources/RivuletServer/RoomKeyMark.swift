import RivuletServerCore

/// A number above every one that a message of a room was given, in a file.
///
/// Numbers of rooms follow the clock (``RoomKey``), so the file matters only when the clock was set back. It is written
/// ahead, for a minute of the clock, and not waited for. It belongs to one thread.
final class RoomKeyMark {
    private let mark: KeyMark
    private var reserved: Int64 = 0
    private static let margin = RoomKey.first(at: WallTime(milliseconds: 60_000))

    init(in folder: DataDirectory) {
        mark = KeyMark(path: folder.roomKeysPath)
    }

    /// The number in the file; 0 when there is none.
    static func found(in folder: DataDirectory) -> Int64 {
        KeyMark.lastKey(at: folder.roomKeysPath) ?? 0
    }

    /// Makes sure that the file is well above the last number given, and above the clock.
    func reserve(above last: Int64, at now: WallTime) {
        let least = max(last, RoomKey.first(at: now))
        guard reserved - least < Self.margin / 2 else { return }
        reserved = min(least + Self.margin, SQLiteMessageLog.keyMax)
        mark.save(reserved)
    }
}
