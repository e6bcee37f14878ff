internal import Foundation
public import RivuletModel

/// Reads what an ``AccountExport`` wrote into a store, on another device or after a loss.
///
/// Messages become history: they stand before all that the store has of their conversation, and count as read. A message
/// whose uuid is known is left as it is, so that reading twice does no harm. What an export does not hold is not brought
/// back: reactions, receipts, votes, labels, and the mark of an edited text.
public struct AccountImport: Sendable {
    /// What was read.
    public struct Summary: Hashable, Sendable {
        /// How many messages came that the store did not have.
        public internal(set) var messageCount = 0
        /// How many conversations were in it.
        public internal(set) var conversationCount = 0
        /// How many lines were passed over, because a newer version wrote them or they make no sense.
        public internal(set) var skippedLineCount = 0
    }

    /// How many messages are written in one transaction.
    private static let batchSize = 500

    private let store: any AccountStore
    private let codec: ContentCodec

    /// Makes the import into a store.
    ///
    /// - Parameters:
    ///   - store: The store.
    ///   - codec: Reads the contents; the same as the store's.
    public init(into store: any AccountStore, codec: ContentCodec = ContentCodec()) {
        self.store = store
        self.codec = codec
    }

    /// Reads lines until there are no more; the messages of one conversation are held at a time.
    ///
    /// - Parameter nextLine: The next line, nil after the last.
    /// - Returns: What was read.
    /// - Throws: `StoreError` with `foreignFile` for an export of another user, and with `newerVersion` for one of a newer
    ///   form; what the closure throws.
    public func read(_ nextLine: () async throws -> String?) async throws -> Summary {
        var summary = Summary()
        var session: Session?
        var messages: [ExportLine] = []
        var isKnown = false
        while let text = try await nextLine() {
            guard let line = Self.line(text) else {
                summary.skippedLineCount += 1
                continue
            }
            guard isKnown || line.type == "account" else {
                throw StoreError(code: .foreignFile, message: "this is no export of an account")
            }
            switch line.type {
            case "account":
                try check(line)
                isKnown = true
            case "contact", "group": _ = try await store.apply(Self.people(line))
            case "conversation":
                summary.messageCount += try await write(messages, to: session)
                (session, messages) = (line.session, [])
                summary.conversationCount += 1
                _ = try await store.apply(Self.conversation(line))
            case "message" where line.session == session: messages.append(line)
            default: summary.skippedLineCount += 1
            }
        }
        summary.messageCount += try await write(messages, to: session)
        return summary
    }

    private static func line(_ text: String) -> ExportLine? {
        do {
            return try JSONDecoder().decode(ExportLine.self, from: Data(text.utf8))
        } catch {
            return nil
        }
    }

    private func check(_ line: ExportLine) throws {
        guard line.account == store.account.rawValue else {
            throw StoreError(code: .foreignFile, message: "this is the export of another user")
        }
        guard line.format ?? .max <= ExportLine.currentFormat else {
            throw StoreError(code: .newerVersion, message: "a newer version wrote this export")
        }
    }

    private static func people(_ line: ExportLine) -> [StoreOperation] {
        if let contact = line.contact { return [.setContact(contact)] }
        guard let group = line.group else { return [] }
        return [.setGroup(group), .setMembers(group: group.id, line.members ?? [])]
    }

    private static func conversation(_ line: ExportLine) -> [StoreOperation] {
        guard let session = line.session else { return [] }
        var operations: [StoreOperation] = []
        if let draft = line.draft { operations.append(.setDraft(session, draft)) }
        if let details = line.draftDetails { operations.append(.setDraftDetails(session, details)) }
        if let isPinned = line.pinned { operations.append(.setPinned(session, isPinned)) }
        if let isMuted = line.muted { operations.append(.setMuted(session, isMuted)) }
        return operations
    }

    /// Writes the messages of a conversation, the newest batch first: each stands before all that are there.
    private func write(_ lines: [ExportLine], to session: Session?) async throws -> Int {
        guard let session else { return 0 }
        var count = 0
        var end = lines.count
        while end > 0 {
            let start = max(0, end - Self.batchSize)
            let batch = lines[start..<end]
            end = start
            var new: [IncomingMessage] = []
            for line in batch {
                if let uuid = line.uuid, try await store.message(uuid: uuid) != nil { continue }
                new.append(message(line, in: session))
            }
            guard !new.isEmpty else { continue }
            _ = try await store.apply([.insertHistory(new)])
            count += new.count
            for line in batch where line.favorite == true {
                guard let uuid = line.uuid, let stored = try await store.message(uuid: uuid) else { continue }
                _ = try await store.apply([.setFavorite(stored.id, true)])
            }
        }
        return count
    }

    private func message(_ line: ExportLine, in session: Session) -> IncomingMessage {
        let raw = line.content ?? ""
        let sender = UserID(line.sender ?? 0)
        return IncomingMessage(
            session: session, sender: sender, isOutgoing: sender == store.account, raw: raw,
            content: content(line, raw), timeMilliseconds: line.timeMilliseconds ?? 0)
    }

    /// Shells and notices have no JSON of their own.
    private func content(_ line: ExportLine, _ raw: String) -> DecodedContent {
        let envelope = ContentEnvelope(uuid: line.uuid)
        return switch MessageKind(rawValue: line.kind ?? "") {
        case .revoked: DecodedContent(envelope: envelope, body: .message(.revoked))
        case .erased: DecodedContent(envelope: envelope, body: .message(.erased))
        case .notice: DecodedContent(envelope: envelope, body: .message(.notice(raw)))
        default: codec.decode(raw)
        }
    }
}
