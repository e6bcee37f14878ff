import Foundation

/// Why the input of `rivulet inspect` cannot be read.
struct InspectInputError: Error {
    /// One sentence for the user.
    var message: String
}

/// Finds the bytes that `rivulet inspect` is to decode.
enum InspectInput {
    /// Reads the input as the options say.
    static func bytes(of options: InspectOptions) throws(InspectInputError) -> [UInt8] {
        let input = options.input
        if input == "-" {
            let data = FileHandle.standardInput.readDataToEndOfFile()
            return try bytes(of: data, name: "standard input", isRaw: options.isRaw)
        }
        let isHex = input.utf8.allSatisfy { isBlank($0) || digit($0) != nil }
        let isFile = isFile(input)
        if !options.isRaw, isHex {
            let isOdd = input.utf8.count { !isBlank($0) } % 2 == 1
            if !(isOdd && isFile) { return try hex(input.utf8, name: "the argument") }
        }
        guard isFile else {
            let kind = options.isRaw ? "no file" : "neither hex text nor a file"
            throw InspectInputError(message: "'\(shown(input))' is \(kind)")
        }
        do {
            let data = try Data(contentsOf: URL(fileURLWithPath: input))
            return try bytes(of: data, name: "'\(shown(input))'", isRaw: options.isRaw)
        } catch let error as InspectInputError {
            throw error
        } catch {
            throw InspectInputError(
                message: "'\(shown(input))' cannot be read: \(error.localizedDescription)")
        }
    }

    /// The bytes that hex text stands for.
    static func hex(_ text: some Sequence<UInt8>, name: String) throws(InspectInputError) -> [UInt8] {
        var bytes: [UInt8] = []
        var high: UInt8?
        for (index, character) in text.enumerated() where !isBlank(character) {
            guard let low = digit(character) else {
                throw InspectInputError(message: "\(name) is not hex text at byte \(index + 1)")
            }
            if let digit = high {
                bytes.append(digit << 4 | low)
                high = nil
            } else {
                high = low
            }
        }
        if high != nil { throw InspectInputError(message: "\(name) has an odd number of hex digits") }
        return bytes
    }

    private static func bytes(of data: Data, name: String, isRaw: Bool) throws(InspectInputError) -> [UInt8] {
        isRaw ? Array(data) : try hex(data, name: name)
    }

    private static func isFile(_ path: String) -> Bool {
        var isDirectory: ObjCBool = false
        return FileManager.default.fileExists(atPath: path, isDirectory: &isDirectory)
            && !isDirectory.boolValue
    }

    /// An argument as it may be shown: short, and without anything that moves a terminal's cursor.
    private static func shown(_ text: String) -> String {
        String(InspectText.quoted(text.count > 60 ? text.prefix(60) + "…" : text).dropFirst().dropLast())
    }

    private static func isBlank(_ character: UInt8) -> Bool {
        character == 0x20 || (0x09...0x0D).contains(character)
    }

    private static func digit(_ character: UInt8) -> UInt8? {
        switch character {
        case 0x30...0x39: character - 0x30
        case 0x41...0x46: character - 0x41 + 10
        case 0x61...0x66: character - 0x61 + 10
        default: nil
        }
    }
}

/// Text as `rivulet inspect` prints it.
enum InspectText {
    /// A JSON string; control characters are escaped, so that a peer's text cannot move a terminal's cursor.
    static func quoted(_ text: String) -> String {
        var result = "\""
        for scalar in text.unicodeScalars {
            switch scalar {
            case "\"": result += "\\\""
            case "\\": result += "\\\\"
            case "\n": result += "\\n"
            case "\r": result += "\\r"
            case "\t": result += "\\t"
            case _ where isControl(scalar): result += escape(scalar)
            default: result.unicodeScalars.append(scalar)
            }
        }
        return result + "\""
    }

    /// Bytes as hex digits.
    static func hex(_ bytes: [UInt8]) -> String {
        bytes.map { ($0 < 16 ? "0" : "") + String($0, radix: 16) }.joined()
    }

    /// The C0 and C1 sets, DEL, the line separators, and what turns the direction of text.
    private static func isControl(_ scalar: Unicode.Scalar) -> Bool {
        switch scalar.value {
        case 0...0x1F, 0x7F...0x9F, 0x2028...0x202E, 0x2066...0x2069: true
        default: false
        }
    }

    private static func escape(_ scalar: Unicode.Scalar) -> String {
        let digits = String(scalar.value, radix: 16)
        return "\\u" + String(repeating: "0", count: 4 - digits.count) + digits
    }
}
