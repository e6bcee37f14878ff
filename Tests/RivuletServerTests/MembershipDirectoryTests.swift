import Foundation
import RivuletModel
import RivuletServerCore
import RivuletTestSupport
import Testing

@testable import RivuletServer

/// What every membership directory promises, tried on both of them.
@Suite struct MembershipDirectoryTests {
    enum Kind: CaseIterable, Sendable {
        case memory
        case file
    }

    private static let now = WallTime(milliseconds: 1_700_000_000_000)
    private static let crew = MembershipChange.createGroup(
        GroupID(7), app: 1, name: "Crew", isSuper: false, owner: UserID(1), members: [UserID(3), UserID(2)])

    private static func make(_ kind: Kind, _ folder: TemporaryFolder) throws -> any MembershipDirectory {
        switch kind {
        case .memory: MemoryMembershipDirectory()
        case .file: try MembershipFile(whileStoppedIn: DataDirectory(path: folder.path))
        }
    }

    @Test(arguments: Kind.allCases)
    func `a new group has its owner and its members in order`(kind: Kind) throws {
        let directory = try Self.make(kind, try TemporaryFolder())
        #expect(try directory.apply([Self.crew], at: Self.now) == [Self.crew])
        let group = try #require(directory.memberships.group(GroupID(7)))
        #expect(group.members.map(\.user) == [UserID(1), UserID(2), UserID(3)])
        #expect(group.owner == UserID(1))
        #expect(group.name == "Crew")
        #expect(group.members.allSatisfy { $0.joined == Self.now })
        #expect(directory.memberships.nextGroupID == GroupID(8))
        #expect(directory.memberships.groups(of: Account(user: UserID(2))).map(\.id) == [GroupID(7)])
        #expect(directory.memberships.groups(of: Account(app: 2, user: UserID(2))).isEmpty)
    }

    /// A change that is refused, and why.
    static let refused: [(MembershipChange, MembershipError)] = [
        (crew, .groupExists(GroupID(7))),
        (.renameGroup(GroupID(9), "x"), .noSuchGroup(GroupID(9))),
        (.dissolveGroup(GroupID(9)), .noSuchGroup(GroupID(9))),
        (.addMember(GroupID(9), UserID(1), .member), .noSuchGroup(GroupID(9))),
        (.addMember(GroupID(7), UserID(0), .member), .badNumber(0)),
        (.addMember(GroupID(7), UserID(9), .owner), .notAMember(GroupID(7), UserID(9))),
        (.removeMember(GroupID(7), UserID(9)), .notAMember(GroupID(7), UserID(9))),
        (.removeMember(GroupID(7), UserID(1)), .ownerNeeded(GroupID(7))),
        (.setMemberRole(GroupID(7), UserID(1), .member), .ownerNeeded(GroupID(7))),
        (.setMemberRole(GroupID(7), UserID(9), .admin), .notAMember(GroupID(7), UserID(9))),
        (.muteMember(GroupID(7), UserID(9), true), .notAMember(GroupID(7), UserID(9))),
        (
            .createGroup(GroupID(0), app: 1, name: "", isSuper: false, owner: UserID(1), members: []),
            .badNumber(0)
        ),
        (
            .createGroup(GroupID(8), app: 1, name: "", isSuper: false, owner: UserID(-1), members: []),
            .badNumber(-1)
        ),
    ]

    @Test(arguments: Kind.allCases, refused.indices)
    func `what cannot be is refused, and nothing of the call is kept`(kind: Kind, index: Int) throws {
        let directory = try Self.make(kind, try TemporaryFolder())
        _ = try directory.apply([Self.crew], at: Self.now)
        let before = directory.memberships
        let (change, error) = Self.refused[index]
        #expect(throws: error) {
            try directory.apply([.muteGroup(GroupID(7), true), change], at: Self.now)
        }
        #expect(directory.memberships == before)
    }

    @Test(arguments: Kind.allCases)
    func `a change that changes nothing is no error and not announced`(kind: Kind) throws {
        let directory = try Self.make(kind, try TemporaryFolder())
        let account = Account(user: UserID(1))
        let changes: [MembershipChange] = [
            Self.crew, .muteGroup(GroupID(7), true), .setFriend(of: account, UserID(2), true),
        ]
        _ = try directory.apply(changes, at: Self.now)
        let again: [MembershipChange] = [
            .muteGroup(GroupID(7), true), .addMember(GroupID(7), UserID(2), .admin),
            .setFriend(of: account, UserID(2), true), .setBlocked(by: account, UserID(2), false),
            .banFromRoom(RoomID(4), account, false), .muteMember(GroupID(7), UserID(2), true),
        ]
        #expect(
            try directory.apply(again, at: Self.now) == [.muteMember(GroupID(7), UserID(2), true)])
    }

    @Test(arguments: Kind.allCases)
    func `a new owner makes the old one an admin`(kind: Kind) throws {
        let directory = try Self.make(kind, try TemporaryFolder())
        _ = try directory.apply(
            [Self.crew, .setMemberRole(GroupID(7), UserID(2), .owner)], at: Self.now)
        let group = try #require(directory.memberships.group(GroupID(7)))
        #expect(group.members.map(\.role) == [.admin, .owner, .member])
    }

    @Test(arguments: Kind.allCases)
    func `the id of a dissolved group is never used again`(kind: Kind) throws {
        let folder = try TemporaryFolder()
        var directory = try Self.make(kind, folder)
        _ = try directory.apply([Self.crew, .dissolveGroup(GroupID(7))], at: Self.now)
        if let file = directory as? MembershipFile {
            file.close()
            directory = try Self.make(kind, folder)
        }
        #expect(directory.memberships.group(GroupID(7)) == nil)
        #expect(directory.memberships.isDissolved(GroupID(7)))
        #expect(directory.memberships.nextGroupID == GroupID(8))
        #expect(throws: MembershipError.groupExists(GroupID(7))) {
            try directory.apply([Self.crew], at: Self.now)
        }
    }

    @Test(arguments: 1...8 as ClosedRange<UInt64>)
    func `any changes leave the same in memory, in the file and after opening it again`(seed: UInt64) throws {
        var random = SeededGenerator(seed: seed)
        let folder = try TemporaryFolder()
        let memory = MemoryMembershipDirectory()
        var file = try MembershipFile(whileStoppedIn: DataDirectory(path: folder.path))
        var time = Self.now
        for _ in 0..<120 {
            time.milliseconds += 7
            let changes = (0..<Int.random(in: 1...3, using: &random)).map { _ in randomChange(&random) }
            let expected = Result { try memory.apply(changes, at: time) }
            let made = Result { try file.apply(changes, at: time) }
            switch (expected, made) {
            case (.success(let left), .success(let right)): #expect(left == right)
            case (.failure(let left), .failure(let right)): #expect("\(left)" == "\(right)")
            default: Issue.record("\(changes): \(expected) and \(made)")
            }
            #expect(file.memberships == memory.memberships)
            if Int.random(in: 0..<10, using: &random) == 0 {
                file.close()
                file = try MembershipFile(whileStoppedIn: DataDirectory(path: folder.path))
                #expect(file.memberships == memory.memberships)
            }
        }
        #expect(!memory.memberships.groups.isEmpty)
    }

    private func randomChange(_ random: inout SeededGenerator) -> MembershipChange {
        let group = GroupID(Int64.random(in: 1...6, using: &random))
        let user = UserID(Int64.random(in: 1...5, using: &random))
        let account = Account(user: UserID(Int64.random(in: 1...5, using: &random)))
        let flag = Bool.random(using: &random)
        switch Int.random(in: 0..<13, using: &random) {
        case 0, 1:
            return .createGroup(
                group, app: 1, name: "n", isSuper: flag, owner: user, members: [account.user])
        case 2:
            return Int.random(in: 0..<6, using: &random) == 0
                ? .dissolveGroup(group) : .muteGroup(group, flag)
        case 3: return .renameGroup(group, flag ? "a" : "b'c\"")
        case 4: return .setGroupNotice(group, flag ? "a" : "b")
        case 5: return .setGroupSuper(group, flag)
        case 6: return .addMember(group, user, flag ? .admin : .member)
        case 7: return .removeMember(group, user)
        case 8:
            return .setMemberRole(group, user, GroupRole.allCases.randomElement(using: &random) ?? .member)
        case 9: return .muteMember(group, user, flag)
        case 10: return .banFromRoom(RoomID(group.rawValue), account, flag)
        case 11: return .setFriend(of: account, user, flag)
        default: return .setBlocked(by: account, user, flag)
        }
    }

    #if os(Linux)
        @Test func `a folder that is let go is free, though a program that is being started has its lock`()
            throws
        {
            let temporary = try TemporaryFolder()
            let folder = DataDirectory(path: temporary.path)
            let lock = try folder.lock()
            // Between fork and exec, a child has copies of all descriptors.
            let copies = try Self.descriptors(of: folder.lockPath).map { dup($0) }
            defer { for copy in copies { close(copy) } }
            #expect(copies.count == 1)
            #expect(throws: ServerError.self) { try folder.lock() }
            lock.release()
            try DataDirectory(path: temporary.path).lock().release()
        }

        private static func descriptors(of path: String) throws -> [Int32] {
            try FileManager.default.contentsOfDirectory(atPath: "/proc/self/fd").compactMap(Int32.init).filter
            {
                let link = "/proc/self/fd/\($0)"
                return (try? FileManager.default.destinationOfSymbolicLink(atPath: link)) == path
            }
        }
    #endif

    @Test func `while a server runs its file is refused to others, and changed through the server`()
        async throws
    {
        let server = try await TestServer(users: [1])
        let folder = DataDirectory(path: server.folder.path)
        let error = #expect(throws: ServerError.self) { try MembershipFile(whileStoppedIn: folder) }
        #expect(error?.code == .folderInUse)
        #expect(try await server.server.apply([Self.crew]) == [Self.crew])
        await #expect(throws: MembershipError.groupExists(GroupID(7))) {
            try await server.server.apply([Self.crew])
        }
        #expect(try await server.server.memberships().group(GroupID(7))?.name == "Crew")
        await server.stop()
        let late = await #expect(throws: ServerError.self) { try await server.server.memberships() }
        #expect(late?.code == .notRunning)
        let file = try MembershipFile(whileStoppedIn: folder)
        #expect(file.memberships.group(GroupID(7))?.members.count == 3)
        file.close()
        let again = try await TestServer(users: [], folder: server.folder)
        #expect(try await again.server.memberships().groups.count == 1)
        await again.stop()
    }
}
