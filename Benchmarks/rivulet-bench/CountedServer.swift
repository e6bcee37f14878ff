import CAllocationCounter
import Foundation
import RivuletServer

/// A server in this program, where allocations are counted: what `rivulet-bench` starts instead of `rivuletd` when it
/// wants to know how many there are.
///
/// It says where it listens as `rivuletd` does, and answers each line of its input with the count so far.
enum CountedServer {
    /// The first argument that makes this program a server.
    static let argument = "--counted-server"

    static func run(folder: String) async -> Int32 {
        count_allocations_of_all_threads()
        FileDescriptorLimit.raise()
        var configuration = ServerConfiguration(data: DataDirectory(path: folder))
        configuration.listen = [ListenAddress(host: "127.0.0.1", port: 0)]
        let server = Server(configuration)
        do {
            try await server.start()
        } catch {
            FileHandle.standardError.write(Data("rivulet-bench: \(error)\n".utf8))
            return 1
        }
        let address = server.addresses.map(\.description).joined()
        FileHandle.standardError.write(Data("rivuletd: listening on \(address)\n".utf8))
        while readLine() != nil {
            FileHandle.standardOutput.write(Data("\(allocation_count_of_all_threads())\n".utf8))
        }
        await server.stop()
        return 0
    }
}
