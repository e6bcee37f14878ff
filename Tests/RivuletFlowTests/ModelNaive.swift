import RivuletModel

@testable import RivuletFlow

/// The flow said another thing than the naive model.
struct Mismatch: Error, CustomStringConvertible {
    var description: String

    init(_ description: String) {
        self.description = description
    }
}

/// Rows and heights reckoned anew from nothing each time, by code that shares nothing with the flow.
struct NaiveRows {
    var zoneSeconds: Int64 = 0
    var now: Int64 = 0
    var unread: UnreadStretch?
    var startsAtBeginning = false
    var width = 0.0
    var scale = 1.0
    var epoch = 0
    /// Sizes of contents that came late.
    var lateHeights: [LateKey: Double] = [:]

    struct LateKey: Hashable {
        var id: MessageID
        var revision: Int
        var width: Double
        var scale: Double
        var epoch: Int
    }

    func lateKey(_ message: Message) -> LateKey {
        LateKey(
            id: message.id, revision: message.revision, width: contentWidth(message), scale: scale,
            epoch: epoch)
    }

    // MARK: rows

    func rows(_ messages: [Message]) -> [FlowRow] {
        var rows: [FlowRow] = []
        var lastMessageRow = -1
        let firstUnread = firstUnread(messages)
        for (index, message) in messages.enumerated() {
            let previous = index > 0 ? messages[index - 1] : nil
            let isNewDay = previous.map { day($0) != day(message) } ?? true
            let count = rows.count
            if isNewDay { rows.append(dated(.day(of: message.id), message)) }
            if message.id == firstUnread {
                rows.append(
                    FlowRow(id: .unreadMark(above: message.id), timeMilliseconds: message.timeMilliseconds))
            }
            let gap = previous.map { abs(message.timeMilliseconds - $0.timeMilliseconds) }
            if gap.map({ $0 >= 300_000 }) ?? true { rows.append(dated(.timeLabel(of: message.id), message)) }
            let isAlone = rows.count > count
            var grouping = FlowRow.Grouping.single
            if !isAlone, let previous, let gap, previous.sender == message.sender,
                previous.isOutgoing == message.isOutgoing, gap <= 300_000, !isNotice(previous),
                !isNotice(message)
            {
                grouping = .endsRun
                rows[lastMessageRow].grouping.remove(.endsRun)
            }
            lastMessageRow = rows.count
            rows.append(
                FlowRow(
                    id: .message(message.id), grouping: grouping, revision: message.revision,
                    timeMilliseconds: message.timeMilliseconds))
        }
        return rows
    }

    private func firstUnread(_ messages: [Message]) -> MessageID? {
        guard let unread, let first = messages.first else { return nil }
        guard startsAtBeginning || first.position <= unread.lastRead else { return nil }
        return messages.first {
            $0.position > unread.lastRead && $0.position <= unread.newest && !$0.isOutgoing
        }?.id
    }

    private func isNotice(_ message: Message) -> Bool {
        message.content.kind == .notice || message.content.kind == .revoked
    }

    private func day(_ message: Message) -> Int64 {
        Int64((Double(message.timeMilliseconds / 1000 + zoneSeconds) / 86_400).rounded(.down))
    }

    private func dated(_ id: FlowRow.ID, _ message: Message) -> FlowRow {
        let today = Int64((Double(now / 1000 + zoneSeconds) / 86_400).rounded(.down))
        let age: TimeAge
        switch today - day(message) {
        case 0: age = .today
        case 1: age = .yesterday
        case 2, 3, 4, 5, 6: age = .thisWeek
        default:
            age = CivilDate(day: day(message)).year == CivilDate(day: today).year ? .thisYear : .anotherYear
        }
        return FlowRow(
            id: id, age: age, zoneSeconds: Int32(zoneSeconds), timeMilliseconds: message.timeMilliseconds)
    }

    // MARK: heights

    private func contentWidth(_ message: Message) -> Double {
        if isNotice(message) { return max(0, width - 40) }
        return max(0, min(width - 40 - (message.isOutgoing ? 28 : 44), 460, 0.72 * width))
    }

    func height(_ row: FlowRow, _ message: Message) -> Double {
        switch row.id.kind {
        case .day: return rounded(40 * scale)
        case .unreadMark, .timeLabel: return rounded(32 * scale)
        case .message: break
        }
        let begins = row.grouping.contains(.beginsRun)
        var height = begins ? 12.0 : 2
        let text = message.content.text ?? message.content.summary
        let late = lateHeights[lateKey(message)]
        if isNotice(message) {
            return rounded(
                height + (late ?? textHeight(text, room: contentWidth(message), font: 12, line: 16)))
        }
        let bubble =
            late ?? (textHeight(text, room: max(0, contentWidth(message) - 24), font: 14, line: 20) + 16)
        if message.isOutgoing {
            height += max(bubble, 16 * scale)
        } else {
            let column = (begins ? 16 * scale + 4 : 0) + bubble
            height += begins ? max(column, 36) : column
        }
        return rounded(height)
    }

    private func textHeight(_ text: String, room: Double, font: Double, line: Double) -> Double {
        let perLine = max(1, Int(room / (font * scale / 2)))
        let count = text.unicodeScalars.count
        return Double(max(1, (count + perLine - 1) / perLine)) * line * scale
    }

    private func rounded(_ height: Double) -> Double {
        (height * 256).rounded() / 256
    }
}

/// Where the reader must be, reckoned from the rows before and after.
struct NaiveReader {
    enum Intent: Equatable {
        case bottom
        case message(MessageID, FlowAlignment)
        case anchor(FlowAnchor)
        /// A page that replaces the window without sending the reader anywhere.
        case reloaded
    }

    var offset = 0.0
    var height = 0.0
    var isFollowing = true
    var isDragging = false
    var intent: Intent?
    var unseen: Set<MessageID> = []
    var arrived: [MessageID] = []
    /// Where every message stands or stood.
    var places: [MessageID: MessagePosition] = [:]
    // What was shown last, with the top of each row; one more for the end.
    var rows: [FlowRow] = []
    var tops: [Double] = [0]

    static func range(content: Double, height: Double) -> ClosedRange<Double> {
        min(0, content - height)...(content - height)
    }

    /// The offset after an apply; `tops` are those of the new rows, without the space after the last.
    mutating func expectedOffset(
        rows new: [FlowRow], tops newTops: [Double], content: Double, isAtNewest: Bool, mayFollow: Bool,
        moved: Set<MessageID>
    ) -> Double {
        let range = Self.range(content: content, height: height)
        func clamp(_ offset: Double) -> Double { min(max(offset, range.lowerBound), range.upperBound) }
        func row(_ id: MessageID) -> Int? { new.firstIndex { $0.id == .message(id) } }
        if !isDragging || rows.isEmpty, let intent {
            self.intent = nil
            switch intent {
            case .bottom: return range.upperBound
            case .reloaded: break
            case .anchor(let anchor):
                if let row = row(anchor.message) {
                    return clamp(newTops[anchor.edge == .top ? row : row + 1] - anchor.offset)
                }
            case .message(let id, let alignment):
                if let row = row(id) {
                    return clamp(aligned(newTops[row], newTops[row + 1], alignment))
                }
            }
        }
        if isFollowing, mayFollow, !isDragging, isAtNewest { return range.upperBound }
        for (old, top, bottom) in candidates() {
            guard !moved.contains(old.message), let row = row(old.message) else { continue }
            if top { return clamp(newTops[row] - (tops[bottom - 1] - offset)) }
            return clamp(newTops[row + 1] - (tops[bottom] - offset))
        }
        return clamp(offset)
    }

    private func aligned(_ top: Double, _ bottom: Double, _ alignment: FlowAlignment) -> Double {
        switch alignment {
        case .top: top
        case .bottom: bottom - height
        case .center: bottom - top > height ? top : (top + bottom - height) / 2
        case .nearest:
            if top < offset || bottom - top > height { top } else { max(offset, bottom - height) }
        }
    }

    /// The messages' rows in the order in which they serve as anchor: the row, whether by its top, and its index
    /// plus one.
    private func candidates() -> [(FlowRow, Bool, Int)] {
        let end = offset + height
        let all = rows.indices.filter { rows[$0].isMessage }
        let visible = all.filter { tops[$0] < end && tops[$0 + 1] > offset }
        var order = visible.filter { tops[$0] >= offset }.map { (rows[$0], true, $0 + 1) }
        order += visible.filter { tops[$0] < offset }.map { (rows[$0], tops[$0 + 1] > end, $0 + 1) }
        order += all.filter { tops[$0 + 1] <= offset }.reversed().map { (rows[$0], false, $0 + 1) }
        order += all.filter { tops[$0] >= end }.map { (rows[$0], true, $0 + 1) }
        return order
    }

    /// The last message that was seen whole, as an index into the rows.
    func lastSeenRow() -> Int? {
        rows.indices.last {
            tops[$0] < offset + height && tops[$0 + 1] > offset && tops[$0 + 1] <= offset + height + 0.5
        }
    }

    /// Forgets the new messages in view and above it.
    mutating func forgetSeen(isAtNewest: Bool, bottom: Double) {
        if isFollowing, isAtNewest, bottom - offset <= 24 {
            unseen = []
        } else if let last = lastSeenRow() {
            // The row that was seen last may be a line above a message, which then counts as seen.
            let seen = places[rows[last].message] ?? MessagePosition(.min)
            unseen = unseen.filter { (places[$0] ?? MessagePosition(.max)) > seen }
        }
    }
}
