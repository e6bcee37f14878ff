import Foundation
import RivuletModel
import RivuletServer
import RivuletServerCore
import RivuletTestSupport
import RivuletWire
import Testing

@Suite struct AccountDirectoryTests {
    let folder: TemporaryFolder
    let directory: AccountDirectory
    let now = WallTime(milliseconds: 1_000_000)

    init() throws {
        folder = try TemporaryFolder()
        directory = try AccountDirectory(in: DataDirectory(path: folder.path(of: "data/server")))
    }

    private func makeToken(user: Int64, seed: UInt64 = 1, lifetime: Int64? = nil) throws -> IssuedToken {
        var generator = SeededGenerator(seed: seed)
        return try directory.createToken(
            for: Account(user: UserID(user)), label: "test", lifetimeMilliseconds: lifetime, now: now,
            using: &generator)
    }

    @Test func `a token names its user, fits the login and is recognised by its id`() throws {
        let issued = try makeToken(user: 7)
        #expect(issued.token.utf8.count <= 60)
        #expect(issued.token.hasPrefix(issued.record.id + "_"))
        #expect(try directory.verify(issued.token, now: now) == Account(user: UserID(7)))
        #expect(try directory.tokens() == [issued.record])
    }

    @Test(arguments: ["", "rvt_", "no-such-token", "rvt_aaaaaaaa_aaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaa"])
    func `an unknown token names nobody`(token: String) throws {
        _ = try makeToken(user: 7)
        #expect(try directory.verify(token, now: now) == nil)
    }

    @Test func `the id alone is no token`() throws {
        let issued = try makeToken(user: 7)
        #expect(try directory.verify(issued.record.id, now: now) == nil)
    }

    @Test func `a revoked token is refused, whether revoked by its id or its text`() throws {
        let first = try makeToken(user: 7, seed: 1)
        let second = try makeToken(user: 7, seed: 2)
        #expect(try directory.revokeToken(first.record.id, now: now)?.revoked == now)
        #expect(try directory.revokeToken(second.token, now: now)?.id == second.record.id)
        #expect(try directory.revokeToken("rvt_nothing", now: now) == nil)
        #expect(try directory.verify(first.token, now: now) == nil)
        #expect(try directory.verify(second.token, now: now) == nil)
    }

    @Test func `a token ends after its lifetime`() throws {
        let issued = try makeToken(user: 7, lifetime: 1000)
        #expect(try directory.verify(issued.token, now: WallTime(milliseconds: 1_000_999)) != nil)
        #expect(try directory.verify(issued.token, now: WallTime(milliseconds: 1_001_000)) == nil)
    }

    @Test func `the file holds no token`() throws {
        let issued = try makeToken(user: 7)
        directory.close()
        let secret = Data(issued.token.suffix(32).utf8)
        let files = try FileManager.default.contentsOfDirectory(atPath: folder.path(of: "data/server"))
        for file in files {
            let bytes = try Data(contentsOf: URL(filePath: folder.path(of: "data/server/\(file)")))
            #expect(bytes.range(of: secret) == nil, "\(file)")
        }
    }

    @Test func `another opening of the folder sees a token at once`() throws {
        let other = try AccountDirectory(in: DataDirectory(path: folder.path(of: "data/server")))
        let issued = try makeToken(user: 9)
        #expect(try other.verify(issued.token, now: now) == Account(user: UserID(9)))
    }

    @Test func `a user number below 1 gets no token`() throws {
        #expect(throws: ServerError.self) { try makeToken(user: 0) }
    }

    @Test func `a device keeps its number, and web clients and nameless devices have none`() throws {
        let account = Account(user: UserID(7))
        let phone = try directory.deviceNumber(for: account, platform: .iOS, deviceID: "a")
        let tablet = try directory.deviceNumber(for: account, platform: .iOS, deviceID: "b")
        #expect(phone != .none)
        #expect(phone != tablet)
        #expect(try directory.deviceNumber(for: account, platform: .iOS, deviceID: "a") == phone)
        #expect(try directory.deviceNumber(for: account, platform: .web, deviceID: "a") == .none)
        #expect(try directory.deviceNumber(for: account, platform: .iOS, deviceID: "") == .none)
    }

    @Test func `folder and files are for their owner alone`() throws {
        let folderMode = try mode(of: "data/server")
        #expect(folderMode == 0o700)
        #expect(try mode(of: "data/server/accounts.sqlite") == 0o600)
    }

    @Test func `a file that is no database is named with what to do`() throws {
        let path = folder.path(of: "bad")
        try FileManager.default.createDirectory(atPath: path, withIntermediateDirectories: true)
        try Data(repeating: 0x41, count: 8192).write(to: URL(filePath: path + "/accounts.sqlite"))
        let error = #expect(throws: ServerError.self) {
            try AccountDirectory(in: DataDirectory(path: path))
        }
        #expect(error?.code == .databaseCorrupt)
        #expect(error?.message.contains(path + "/accounts.sqlite") == true)
    }

    @Test func `the standard folder follows the environment`() {
        #expect(
            DataDirectory.standard(environment: ["XDG_DATA_HOME": "/d", "HOME": "/h"])?.path
                == "/d/rivulet/server")
        #expect(
            DataDirectory.standard(environment: ["XDG_DATA_HOME": "relative", "HOME": "/h"])?.path
                == "/h/.local/share/rivulet/server")
        #expect(DataDirectory.standard(environment: [:]) == nil)
    }

    private func mode(of name: String) throws -> Int? {
        let attributes = try FileManager.default.attributesOfItem(atPath: folder.path(of: name))
        return attributes[.posixPermissions] as? Int
    }
}
