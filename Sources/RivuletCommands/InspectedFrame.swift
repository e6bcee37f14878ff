import RivuletWire

/// One frame of an inspected stream, or what is wrong with it.
struct InspectedFrame {
    /// What a receiver does with a bad frame.
    enum Verdict: String {
        /// Close the connection.
        case reject
        /// Drop the frame.
        case skip
        /// Wait for more bytes, of which there are none.
        case incomplete
    }

    /// What the frame holds.
    enum Content {
        case packet(Packet)
        case fault(Verdict, WireError)
    }

    /// Where the frame begins in the input.
    var offset: Int
    /// Its header; nil when not even that is there.
    var header: PacketHeader?
    /// The command's name in the profile.
    var name: String?
    /// What the frame holds.
    var content: Content

    /// Whether the receiver can use the frame.
    var isGood: Bool {
        if case .packet = content { true } else { false }
    }

    /// Decodes everything up to the end or the first frame that costs the connection; an empty input is incomplete.
    static func all(in bytes: [UInt8], role: Role, profile: Profile) -> [InspectedFrame] {
        var decoder = PacketDecoder(role: role, profile: profile)
        decoder.append(bytes)
        var frames: [InspectedFrame] = []
        var offset = 0
        func add(_ content: Content, command: Command?) {
            let header = PacketHeader(bytes, at: offset)
            let name = (header?.command ?? command)?.name(in: profile)
            frames.append(InspectedFrame(offset: offset, header: header, name: name, content: content))
        }
        do throws(WireError) {
            while let frame = try decoder.next() {
                switch frame {
                case .packet(let packet): add(.packet(packet), command: packet.command)
                case .skipped(let header, let error): add(.fault(.skip, error), command: header.command)
                }
                offset = bytes.count - decoder.bufferedByteCount
            }
        } catch {
            add(.fault(.reject, error), command: error.command)
            return frames
        }
        do throws(WireError) {
            try decoder.finish()
            if bytes.isEmpty { throw WireError(.needMoreBytes, offset: 0) }
        } catch {
            add(.fault(.incomplete, error), command: error.command)
        }
        return frames
    }
}

extension InspectedFrame {
    /// The frame as one JSON object.
    var json: String {
        var members: [(String, String)] = []
        if let command { members.append(("cmd", "\(command.rawValue)")) }
        if let name { members.append(("cmd_name", InspectText.quoted(name))) }
        if let header {
            members += [
                ("seq", "\(header.sequence)"), ("version", "\(header.version)"),
                ("flag", "\(header.flags.rawValue)"), ("length", "\(header.length)"),
            ]
        }
        switch content {
        case .packet(let packet):
            members.append(("fields", Self.object(packet.fields.map { ($0.name, $0.value.json) })))
        case .fault(let verdict, let error):
            members += [
                ("verdict", InspectText.quoted(verdict.rawValue)),
                ("reason", InspectText.quoted(error.code.rawValue)),
                ("offset", "\(offset + (error.offset ?? 0))"),
            ]
        }
        return Self.object(members)
    }

    /// The names over the columns of ``row``.
    static let heading = columns("OFFSET", "COMMAND", "SEQ", "VER", "FLAG", "LENGTH", "FIELDS")

    /// The frame as one row.
    var row: String {
        let title = command.map { "\(name ?? "?")(\($0.rawValue))" } ?? "?"
        let text =
            switch content {
            case .packet(let packet):
                packet.fields.map { "\($0.name)=\($0.value.json)" }.joined(separator: " ")
            case .fault(let verdict, let error):
                "\(verdict.rawValue): \(error.code.rawValue) at byte \(offset + (error.offset ?? 0))"
            }
        guard let header else { return Self.columns("\(offset)", title, "", "", "", "", text) }
        return Self.columns(
            "\(offset)", title, "\(header.sequence)", "\(header.version)",
            "0x" + InspectText.hex([header.flags.rawValue]), "\(header.length)", text)
    }

    private var command: Command? {
        if let header { return header.command }
        if case .fault(_, let error) = content { return error.command }
        return nil
    }

    private static func object(_ members: [(String, String)]) -> String {
        "{" + members.map { "\(InspectText.quoted($0.0)):\($0.1)" }.joined(separator: ",") + "}"
    }

    private static func columns(_ texts: String...) -> String {
        let widths = [8, 26, 12, 4, 5, 8]
        let padded = zip(texts, widths).map { text, width in
            text + String(repeating: " ", count: max(1, width - text.count))
        }
        let line = padded.joined() + (texts.last ?? "")
        return String(line.reversed().drop { $0 == " " }.reversed())
    }
}

extension FieldValue {
    /// The value as JSON; bytes become hex text.
    fileprivate var json: String {
        switch self {
        case .integer(let value): "\(value)"
        case .text(let value): InspectText.quoted(value)
        case .bytes(let value): InspectText.quoted(InspectText.hex(value))
        case .integers(let values): "[" + values.map { "\($0)" }.joined(separator: ",") + "]"
        }
    }
}
