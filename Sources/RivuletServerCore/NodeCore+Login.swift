import RivuletModel
import RivuletWire

// Login and the dispatch of packets (docs/protocol.md, sections 7 and 12).
extension NodeCore {
    mutating func receive(_ packet: Packet, on connection: ConnectionID) {
        guard let client = clients[connection] else { return }
        switch client.phase {
        case .loggedIn:
            handle(packet, of: client, on: connection)
        case .anonymous:
            receiveAnonymously(packet, on: connection)
        case .authenticating(let version, var waiting):
            guard waiting.count < limits.packetsWhileAuthenticatingMax else {
                actions.append(.close(connection, .tooManyRequests, afterMilliseconds: 0))
                return
            }
            // Emptied first, so that the array is not copied for each packet.
            clients[connection]?.phase = .anonymous
            waiting.append(packet)
            clients[connection]?.phase = .authenticating(version: version, waiting: waiting)
        }
    }

    private mutating func receiveAnonymously(_ packet: Packet, on connection: ConnectionID) {
        switch (packet.command, packet.body) {
        case (.ping, _):
            send([Packet(.pong)], to: connection)
        case (.authToken, .authToken(let token)):
            clients[connection]?.phase = .authenticating(version: packet.version, waiting: [])
            actions.append(.authenticate(connection, token))
        default:
            break
        }
    }

    mutating func finishLogin(of connection: ConnectionID, _ result: LoginResult) {
        guard let client = clients[connection],
            case .authenticating(let version, let waiting) = client.phase
        else { return }
        switch result {
        case .accepted(let account, let device):
            clients[connection]?.phase = .loggedIn
            clients[connection]?.account = account
            clients[connection]?.device = device
            connectionsOfUser[account.user, default: []].append(connection)
            if client.refusedLogins > 0 { actions.append(.keepOpen(connection)) }
            actions.append(.useVersion(connection, version))
            send([Packet(.authStatus, .authStatus(AuthenticationStatus(status: 0)))], to: connection)
        case .refused, .unavailable:
            let refused = client.refusedLogins + 1
            clients[connection]?.phase = .anonymous
            clients[connection]?.refusedLogins = refused
            send([Packet(.authStatus, .authStatus(AuthenticationStatus(status: 1)))], to: connection)
            // The public server leaves the connection open for ever; clients that only watch the socket hang
            // (docs/protocol.md, section 21, pitfall 5).
            let isLast = refused >= limits.refusedLoginsMax
            actions.append(
                .close(
                    connection, .loginRefused,
                    afterMilliseconds: isLast ? 0 : limits.refusedLoginGraceMilliseconds))
        }
        for packet in waiting {
            receive(packet, on: connection)
        }
    }

    private mutating func handle(_ packet: Packet, of client: NodeClient, on connection: ConnectionID) {
        switch (packet.command, packet.body) {
        case (.im, .im(let message)):
            takePeerMessage(message, packet, of: client, on: connection)
        case (.ping, _):
            send([Packet(.pong)], to: connection)
        case (.sync, .syncKey(let key)):
            requestSync(after: key, on: connection, of: client)
        case (.syncKey, .syncKey(let key)):
            actions.append(.reportKey(client.account.user, key))
        case (.syncGroup, .groupSyncKey(let request)):
            // No group exists yet: the honest answer is an empty page at the client's own key.
            let answer = PacketBody.groupSyncKey(
                GroupSyncKey(groupID: request.groupID, key: max(request.key, 0)))
            send([Packet(.syncGroupBegin, answer), Packet(.syncGroupEnd, answer)], to: connection)
        case (.groupIM, .im):
            acknowledge(packet.sequence, status: .noSuchGroup, on: connection)
        case (.rt, .room(let message)):
            relayLive(message, of: client, on: connection)
        case (.enterRoom, .roomID(let room)):
            enterRoom(room, of: client, on: connection)
        case (.leaveRoom, .roomID(let room)):
            if room == client.room {
                clients[connection]?.room = 0
                leaveRoom(connection, room)
            }
        case (.roomIM, .room(let message)):
            relayToRoom(message, packet, of: client, on: connection)
        default:
            // A second AUTH_TOKEN, ACK, METADATA, PONG, UNREAD_COUNT, GROUP_SYNC_KEY and the retired customer
            // commands are accepted and change nothing.
            break
        }
    }

    mutating func acknowledge(_ sequence: Int32, status: ACKStatus = .success, on connection: ConnectionID) {
        send([.acknowledging(sequence, status: status)], to: connection)
    }
}

extension Packet {
    /// An ACK that names a sequence number.
    static func acknowledging(_ sequence: Int32, status: ACKStatus = .success) -> Packet {
        Packet(.ack, .ack(Acknowledgement(sequence: sequence, status: status)))
    }

    /// The METADATA of a place in a queue.
    static func metadata(of place: QueuePlace) -> Packet {
        Packet(.metadata, .metadata(Metadata(syncKey: place.key, previousSyncKey: place.previous)))
    }
}
