import Foundation
import RivuletModel
import RivuletServerCore
import RivuletTestSupport
import Testing

@testable import RivuletServer

/// What a burned message said stands in no file of the server.
@Suite struct BurnFilesTests {
    private static let now = WallTime(milliseconds: 1_000_000)
    private static let secret = #"{"uuid":"m","burn":{"seconds":5},"text":"quicksilver"}"#
    private static let burned = #"{"uuid":"b","burned":{"msgid":"m"}}"#

    private func files(_ path: String, hold text: String) -> Bool {
        ["", "-wal"].contains {
            FileManager.default.contents(atPath: path + $0)?.range(of: Data(text.utf8)) != nil
        }
    }

    @Test(arguments: [1, 50, 4_000])
    func `no byte stays once the log was idle`(neighbours: Int) throws {
        let folder = try TemporaryFolder()
        let path = folder.path(of: "messages.sqlite")
        let log = try SQLiteMessageLog(path: path)
        _ = try log.append((0..<neighbours).map { makeEntry("before \($0)") }, at: Self.now)
        _ = try log.append(
            [makeEntry(Self.secret)] + (0..<neighbours).map { makeEntry("with \($0)") }, at: Self.now)
        while try log.maintain(rowsMax: 4_096) {}
        #expect(files(path, hold: "quicksilver"))
        _ = try log.append([makeEntry(Self.burned, from: 2, to: 1)], at: Self.now)
        while try log.maintain(rowsMax: 512) {}
        #expect(!files(path, hold: "quicksilver"))
        #expect(files(path, hold: "with \(neighbours - 1)"))
        try log.close()
        #expect(!files(path, hold: "quicksilver"))
    }

    @Test func `a crash before the log was cut is made good at the next start`() throws {
        let folder = try TemporaryFolder()
        let path = folder.path(of: "messages.sqlite")
        let log = try SQLiteMessageLog(path: path)
        _ = try log.append([makeEntry(Self.secret)], at: Self.now)
        _ = try log.append([makeEntry(Self.burned, from: 2, to: 1)], at: Self.now)
        let other = folder.path(of: "crashed.sqlite")
        for suffix in ["", "-wal"] {
            try FileManager.default.copyItem(atPath: path + suffix, toPath: other + suffix)
        }
        #expect(files(other, hold: "quicksilver"))
        let again = try SQLiteMessageLog(path: other)
        #expect(!files(other, hold: "quicksilver"))
        try again.close()
        try log.close()
    }
}
