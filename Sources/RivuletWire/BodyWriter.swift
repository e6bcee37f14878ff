/// Writes the fields of one frame into its place, big-endian, one after the other.
///
/// It lives inside one access to the encoder's storage. Each write traps when the frame is full, which would mean
/// that the length of the body was computed wrongly: no input leads there.
@unsafe
struct BodyWriter {
    private let bytes: UnsafeMutableRawBufferPointer
    private var offset: Int
    private let end: Int

    /// Writes from one offset to another, both inside the buffer.
    @inline(__always)
    init(_ bytes: UnsafeMutableRawBufferPointer, from start: Int, to end: Int) {
        precondition(start >= 0 && start <= end && end <= bytes.count, "a frame lies outside its storage")
        unsafe self.bytes = unsafe bytes
        unsafe offset = start
        unsafe self.end = end
    }

    @inline(__always)
    mutating func write(_ value: Int64) {
        // In bounds: `take` has checked it.
        let place = unsafe take(8)
        unsafe bytes.storeBytes(of: value.bigEndian, toByteOffset: place, as: Int64.self)
    }

    @inline(__always)
    mutating func write(_ value: Int32) {
        // In bounds: `take` has checked it.
        let place = unsafe take(4)
        unsafe bytes.storeBytes(of: value.bigEndian, toByteOffset: place, as: Int32.self)
    }

    @inline(__always)
    mutating func write(_ value: UInt8) {
        // In bounds: `take` has checked it.
        let place = unsafe take(1)
        unsafe bytes.storeBytes(of: value, toByteOffset: place, as: UInt8.self)
    }

    /// Writes raw bytes.
    mutating func write(_ value: [UInt8]) {
        unsafe value.withUnsafeBytes { source in unsafe copy(source) }
    }

    /// Writes UTF-8.
    @inline(__always)
    mutating func write(_ value: String) {
        let isContiguous: Void? = unsafe value.utf8.withContiguousStorageIfAvailable { source in
            unsafe copy(UnsafeRawBufferPointer(source))
        }
        if isContiguous == nil { unsafe write(Array(value.utf8)) }
    }

    @inline(__always)
    private mutating func copy(_ source: UnsafeRawBufferPointer) {
        guard let base = source.baseAddress, source.count > 0 else { return }
        let place = unsafe take(source.count)
        // In bounds: `take` has checked the whole range.
        unsafe (bytes.baseAddress)?.advanced(by: place).copyMemory(from: base, byteCount: source.count)
    }

    /// The place of the next field of a size.
    @inline(__always)
    private mutating func take(_ count: Int) -> Int {
        let place = unsafe offset
        unsafe precondition(count <= end &- place, "a body is longer than it was said to be")
        unsafe offset = place &+ count
        return place
    }
}
