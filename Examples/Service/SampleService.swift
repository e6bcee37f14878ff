public import Foundation
import RivuletClient
import RivuletClientCore
public import RivuletEngine
import RivuletModel
public import RivuletServer
import RivuletServerCore

/// A server in this process, and accounts on it: what these examples need beside their own few lines.
public final class SampleService: Sendable {
    /// The server.
    public let server: Server
    private let folder: String

    /// Starts a server on a free port, in a folder of its own.
    public init() async throws {
        folder = NSTemporaryDirectory() + "rivulet-example-" + UUID().uuidString
        var options = ServerConfiguration(data: DataDirectory(path: folder + "/server"))
        options.listen = [ListenAddress(host: "127.0.0.1", port: 0)]
        options.http = [ListenAddress(host: "127.0.0.1", port: 0)]
        server = Server(options)
        try await server.start()
    }

    /// Where the server's HTTP interface is.
    public var httpAddress: URL {
        URL(string: "http://127.0.0.1:\(server.httpAddresses.first?.port ?? 0)") ?? URL(filePath: "/")
    }

    /// Signs a user in.
    public func signIn(_ user: Int64) async throws -> ChatAccount {
        let token = try server.makeToken(for: UserID(user))
        let account = try ChatAccount.open(
            in: folder,
            service: IMServiceConfiguration(
                endpoints: [ClientEndpoint(host: "127.0.0.1", port: server.port)],
                identity: ClientIdentity(
                    uid: user, appID: Account.defaultApp, token: token, deviceID: "example-\(user)")))
        let states = account.service.connectionStates()
        account.start()
        for await state in states where state == .authenticated { break }
        return account
    }

    /// Stops everything and leaves nothing behind.
    public func stop(_ accounts: ChatAccount...) async throws {
        for account in accounts { await account.close() }
        await server.stop()
        try FileManager.default.removeItem(atPath: folder)
    }
}
