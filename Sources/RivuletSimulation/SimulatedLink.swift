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
    /// From when on nothing of what the client wrote arrives; nil while the network holds.
    var cutAt: Int64?
    /// Whether the frame that was on its way at the cut has come in part.
    var isTorn = false
    /// Whether the server believes this connection to be in the room.
    var isInRoom = false
    /// The client's program does not read before this time.
    var stalledUntil: Int64 = 0
    var isReading = true
    /// Bytes that wait for the client to read.
    var held: [[UInt8]] = []
    /// How many bytes the server wrote that the client's program has not taken.
    var unread = 0
    var decoder: PacketDecoder
    var encoder: PacketEncoder
    var outgoing = OutgoingQueue(pushesMax: 20)
    /// Grows with each order to close, so that one can be taken back.
    var closeNumber = 0

    init(device: Int, life: Int, epoch: UInt64, chance: Chance, latency: Int64, profile: Profile) {
        decoder = PacketDecoder(role: .server, profile: profile)
        encoder = PacketEncoder(role: .server, profile: profile)
        self.device = device
        self.life = life
        self.epoch = epoch
        self.chance = chance
        self.latency = latency
    }

    /// How many bytes the network takes before the server has to wait.
    static let windowBytes = 4096
}
