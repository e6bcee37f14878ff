import Foundation
public import RivuletWire

/// What `rivulet inspect` was asked to do.
public struct InspectOptions: Sendable {
    /// The era of the bytes.
    public var profile: Profile
    /// Who receives the bytes; it decides limits, allowed commands and what an error costs.
    public var role: Role
    /// Whether each frame is printed as a JSON object instead of a row.
    public var isJSON: Bool
    /// Whether the input is bytes and not hex text.
    public var isRaw: Bool
    /// Hex text, the path of a file, or `-` for standard input; see ``runInspect(options:output:complaint:)``.
    public var input: String

    /// Makes options; a server of the current profile reads hex text by default.
    public init(
        input: String, profile: Profile = .current, role: Role = .server, isJSON: Bool = false,
        isRaw: Bool = false
    ) {
        self.profile = profile
        self.role = role
        self.isJSON = isJSON
        self.isRaw = isRaw
        self.input = input
    }
}

/// Decodes a piece of a stream and prints what it holds, one line a frame.
///
/// An input made of hex digits and white space alone is taken as the bytes themselves, unless their number is odd and
/// a file has that name; every other input is a path, and so is every one with `isRaw`. Write `./cafe` for a file
/// with such a name. A file and standard input hold hex text, white space allowed, or raw bytes with `isRaw`.
///
/// JSON objects have the keys of docs/protocol.md, section 22: `cmd`, `cmd_name`, `seq`, `version`, `flag`, `length`
/// and `fields`; a bad frame has `verdict` (`reject`, `skip` or `incomplete`), `reason` and `offset`, the place of
/// the fault in the input, instead of `fields`. Nothing behind a rejected frame is read.
///
/// - Parameters:
///   - options: What to read and how to print it.
///   - output: Receives each line, without its end.
///   - complaint: Receives one line when the input cannot be read; by default it goes to standard error.
/// - Returns: The exit status: 0 when every frame is good, 1 when one is not, 2 when the input cannot be read.
public func runInspect(
    options: InspectOptions, output: (String) -> Void,
    complaint: ((String) -> Void)? = nil
) -> Int32 {
    let bytes: [UInt8]
    do throws(InspectInputError) {
        bytes = try InspectInput.bytes(of: options)
    } catch {
        let complain =
            complaint ?? { line in
                FileHandle.standardError.write(Data("rivulet inspect: \(line)\n".utf8))
            }
        complain(error.message)
        return 2
    }
    let frames = InspectedFrame.all(in: bytes, role: options.role, profile: options.profile)
    if !options.isJSON { output(InspectedFrame.heading) }
    for frame in frames { output(options.isJSON ? frame.json : frame.row) }
    return frames.allSatisfy(\.isGood) ? 0 : 1
}
