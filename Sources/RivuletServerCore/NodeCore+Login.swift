import RivuletModel
import RivuletWire

// Login and the dispatch of packets (docs/protocol.md, sections 7 and 12).
extension NodeCore {
    mutating func receive(_ packet: Packet, on connection: ConnectionID) {
        guard let client = clients[connection] else { return }
        counts.packets += 1
        switch client.phase {
        case .loggedIn:
            handle(packet, of: client, on: connection)
        case .anonymous:
            receiveAnonymously(packet, of: client, on: connection)
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

    private mutating func receiveAnonymously(
        _ packet: Packet, of client: NodeClient, on connection: ConnectionID
    ) {
        switch (packet.command, packet.body) {
        case (.ping, _):
            send([Packet(.pong)], to: connection)
        case (.authToken, .authToken(let token)):
            clients[connection]?.phase = .authenticating(version: packet.version, waiting: [])
            if let limit = limits.refusedLoginsPerAddress, client.address != .unknown,
                loginMeters.isExhausted(limit, for: client.address, at: now)
            {
                counts.limited += 1
                // Not looked up, so not counted: whoever waits gets another try.
                finishLogin(of: connection, .unavailable)
            } else {
                actions.append(.authenticate(connection, token))
            }
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
            accept(account, device, client, on: connection)
            actions.append(.useVersion(connection, version))
            send([Packet(.authStatus, .authStatus(AuthenticationStatus(status: 0)))], to: connection)
        case .refused, .unavailable:
            refuse(client, result, on: connection)
        }
        for packet in waiting {
            receive(packet, on: connection)
        }
    }

    private mutating func accept(
        _ account: Account, _ device: DeviceNumber, _ client: NodeClient, on connection: ConnectionID
    ) {
        counts.logins += 1
        clients[connection]?.phase = .loggedIn
        clients[connection]?.account = account
        clients[connection]?.device = device
        // Each login starts the badge anew (docs/protocol.md, section 13).
        unreadCounts[account] = nil
        let wasOnline = connectionsOfUser[account] != nil
        connectionsOfUser[account, default: []].append(connection)
        if !wasOnline { tellPresence(of: account) }
        if client.refusedLogins > 0 { actions.append(.keepOpen(connection)) }
    }

    private mutating func refuse(_ client: NodeClient, _ result: LoginResult, on connection: ConnectionID) {
        counts.refusedLogins += 1
        if let limit = limits.refusedLoginsPerAddress, result == .refused, client.address != .unknown {
            _ = loginMeters.take(limit, for: client.address, at: now)
        }
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

    private mutating func handle(_ packet: Packet, of client: NodeClient, on connection: ConnectionID) {
        switch (packet.command, packet.body) {
        case (.im, .im(let message)):
            takePeerMessage(message, packet, of: client, on: connection)
        case (.groupIM, .im(let message)):
            takeGroupMessage(message, packet, of: client, on: connection)
        case (.customerV2, .customerV2(let message)):
            takeCustomerMessage(message, packet, of: client, on: connection)
        case (.ping, _):
            send([Packet(.pong)], to: connection)
        case (.sync, .syncKey(let key)):
            request(
                PageRequest(queue: .user(client.account), reader: client.account, after: key), on: connection)
        case (.syncKey, .syncKey(let key)):
            actions.append(.reportKey(.user(client.account), client.account, key))
        case (.syncGroup, .groupSyncKey(let body)):
            requestGroupSync(body, of: client, on: connection)
        case (.groupSyncKey, .groupSyncKey(let body)):
            reportGroupKey(body, of: client)
        case (.rt, .room(let message)):
            relayLive(message, of: client, on: connection)
        case (.roomIM, .room(let message)):
            relayToRoom(message, packet, of: client, on: connection)
        default:
            handleRest(packet, of: client, on: connection)
        }
    }

    private mutating func handleRest(_ packet: Packet, of client: NodeClient, on connection: ConnectionID) {
        switch (packet.command, packet.body) {
        case (.enterRoom, .roomID(let room)):
            enterRoom(RoomID(room), of: client, on: connection)
        case (.leaveRoom, .roomID(let room)):
            if RoomID(room) == client.room {
                clients[connection]?.room = RoomID(0)
                leaveRoom(connection, client.room)
            }
        case (.unreadCount, .unreadCount(let count)):
            unreadCounts[client.account] = count > 0 ? count : nil
        default:
            // A second AUTH_TOKEN, ACK, METADATA, PONG and the retired customer commands are accepted and change
            // nothing.
            break
        }
    }

    /// The badge number that a user's client reported since the last login; 0 when none did.
    public func unreadCount(of account: Account) -> Int32 {
        unreadCounts[account] ?? 0
    }

    mutating func acknowledge(
        _ sequence: Int32, status: ACKStatus = .success, flags: PacketFlags = [], on connection: ConnectionID
    ) {
        if status != .success { counts.refusals += 1 }
        send([.acknowledging(sequence, status: status, flags: flags)], to: connection)
    }
}

extension Packet {
    /// An ACK that names a sequence number.
    static func acknowledging(
        _ sequence: Int32, status: ACKStatus = .success, flags: PacketFlags = []
    ) -> Packet {
        Packet(.ack, .ack(Acknowledgement(sequence: sequence, status: status)), flags: flags)
    }

    /// The METADATA of a place in a queue.
    static func metadata(of place: QueuePlace) -> Packet {
        Packet(.metadata, .metadata(Metadata(syncKey: place.key, previousSyncKey: place.previous)))
    }
}
