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
        case .authenticating(let attempt, var waiting):
            guard waiting.count < limits.packetsWhileAuthenticatingMax else {
                actions.append(.close(connection, .tooManyRequests, afterMilliseconds: 0))
                return
            }
            // Emptied first, so that the array is not copied for each packet.
            clients[connection]?.phase = .anonymous
            waiting.append(packet)
            clients[connection]?.phase = .authenticating(attempt, waiting: waiting)
        }
    }

    private mutating func receiveAnonymously(
        _ packet: Packet, of client: NodeClient, on connection: ConnectionID
    ) {
        switch (packet.command, packet.body) {
        case (.ping, _):
            send([Packet(.pong)], to: connection)
        case (.authToken, .authToken(let token)):
            let attempt = LoginAttempt(
                version: packet.version, platform: token.platformID, deviceID: token.deviceID)
            clients[connection]?.phase = .authenticating(attempt, waiting: [])
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
            case .authenticating(let attempt, let waiting) = client.phase
        else { return }
        switch result {
        case .accepted(_, _, let token) where revokedTokens.contains(token):
            refuse(client, .refused, on: connection)
        case .accepted(let account, let device, let token):
            clients[connection]?.token = token
            accept(account, device, client, on: connection)
            actions.append(.useVersion(connection, attempt.version))
            send([Packet(.authStatus, .authStatus(AuthenticationStatus(status: 0)))], to: connection)
            if rules.tellsLogins { tellLogin(attempt, of: account, device, on: connection) }
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
        actions.append(.reportUnread(account, 0))
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
            actions.append(.reportUnread(client.account, max(count, 0)))
        default:
            // A second AUTH_TOKEN, ACK, METADATA, PONG and the retired customer commands are accepted and change
            // nothing.
            break
        }
    }

    /// Tells the user's other devices that the account is in use here, too (docs/protocol.md, section 13).
    private mutating func tellLogin(
        _ attempt: LoginAttempt, of account: Account, _ device: DeviceNumber, on connection: ConnectionID
    ) {
        let own = LiveAuthor(account: account, device: device, connection: connection)
        let others = audience(of: account, without: own)
        guard !others.isEmpty else { return }
        // A name that is no name would not fit into a frame.
        let name = String(String.UnicodeScalarView(attempt.deviceID.unicodeScalars.prefix(100)))
        let text = """
            {"login_point":{"time":\(now.timestamp),"platform":\(attempt.platform.rawValue),\
            "device":\(GroupNotice.quoted(name))}}
            """
        broadcast([Packet(.notification, .text(text))], to: others)
    }

    /// Ends the connections that logged in with a token.
    mutating func revoke(_ token: TokenID) {
        guard token != .none else { return }
        // A login that the directory allowed before may still be on its way.
        if revokedTokens.count >= Self.revokedTokensMax { revokedTokens.removeFirst() }
        revokedTokens.append(token)
        let found = clients.filter { $1.token == token && $1.isLoggedIn }.keys
        for connection in found.sorted(by: { $0.rawValue < $1.rawValue }) {
            actions.append(.close(connection, .tokenRevoked, afterMilliseconds: 0))
        }
    }

    /// So many revoked tokens are remembered; a login is decided long before that many more are revoked.
    private static var revokedTokensMax: Int { 1000 }

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
