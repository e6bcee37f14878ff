import Foundation
import RivuletClient
import RivuletClientCore
import RivuletEngine
import RivuletModel
import RivuletServer
import RivuletServerCore
import RivuletStore

// A server in this process; in production it is the program rivuletd on another machine.
let folder = NSTemporaryDirectory() + "rivulet-" + UUID().uuidString
var options = ServerConfiguration(data: DataDirectory(path: folder + "/server"))
options.listen = [ListenAddress(host: "127.0.0.1", port: 0)]
let server = Server(options)
try await server.start()

// Two people, each with a connection, an outbox and a memory of their own.
func open(_ user: Int64) throws -> ChatAccount {
    let token = try server.makeToken(for: UserID(user))
    return try ChatAccount.open(
        in: folder,
        service: IMServiceConfiguration(
            endpoints: [ClientEndpoint(host: "127.0.0.1", port: server.port)],
            identity: ClientIdentity(uid: user, token: token, deviceID: "laptop-\(user)")))
}
let (ada, ben) = (try open(7), try open(8))
let changes = ben.changes()
ada.start()
ben.start()

// Returns when the server has the message on disk, however often the connection is lost meanwhile.
try await ada.send(text: "Shall we meet at the north gate?", to: .peer(UserID(8)))

for await change in changes {
    guard let message = change.inserted.first else { continue }
    print("\(message.sender.rawValue) says:", message.content.summary)
    break
}
await ada.close()
await ben.close()
await server.stop()
try FileManager.default.removeItem(atPath: folder)
