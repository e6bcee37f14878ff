import RivuletServerCore
import RivuletWire

/// A connection through the simulated network.
final class SimulatedLink {
    let device: Int
    /// Which start of the program it belongs to, and which of its attempts.
    let life: Int
    let epoch: UInt64
    var chance: Chance
    var latency: Int64
    var isClientOpen = true
    var isServerOpen = false
    /// Everything sent is lost, and neither side hears of it.
    var isBlackHole = false
    var lastToServer: Int64 = 0
    var lastToClient: Int64 = 0
    /// The client's program does not read before this time.
    var stalledUntil: Int64 = 0
    var isReading = true
    /// Bytes that wait for the client to read.
    var held: [[UInt8]] = []
    /// How many bytes the server wrote that the client's program has not taken.
    var unread = 0
    var decoder = PacketDecoder(role: .server, profile: .current)
    var encoder = PacketEncoder(role: .server, profile: .current)
    var outgoing = OutgoingQueue(pushesMax: 20)
    /// Grows with each order to close, so that one can be taken back.
    var closeNumber = 0

    init(device: Int, life: Int, epoch: UInt64, chance: Chance, latency: Int64) {
        self.device = device
        self.life = life
        self.epoch = epoch
        self.chance = chance
        self.latency = latency
    }

    /// How many bytes the network takes before the server has to wait.
    static let windowBytes = 4096
}
